/** The two clinics of a history: new, with two doctors, two rooms, a patient with three invoices, and a credential each. */
import { NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { fullName } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { roomStore } from '../../shared/store/catalogue.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { aRoom } from '../support/catalogue.ts'
import { issueCredential } from '../support/credentials.ts'
import { createRecord } from '../support/records.ts'
import { anInvoice } from '../support/sample-records.ts'
import { aPatient, newClinic } from '../support/table.ts'
import { type ClinicModel, emptyClinicModel } from './model.ts'
import { newPatient } from './operations/patients.ts'
import { Register } from './register.ts'

let created = 0

export async function createClinics(table: Table): Promise<[ClinicModel, ClinicModel]> {
  return [await createClinic(table, 0), await createClinic(table, 1)]
}

async function createClinic(table: Table, index: 0 | 1): Promise<ClinicModel> {
  const clinic: Clinic = await newClinic(table, { name: `Clinic ${index}` })
  const hours = parseWeeklyHours('mon-sun 08:00-20:00')
  const doctors = ['Dr. 1', 'Dr. 2'].map((name) => ({
    id: newUuid(),
    name: new Register(name),
    fullName: name,
  }))
  const changes = doctors.map(({ id, fullName }) => ({
    before: null,
    after: { ...NEW_DOCTOR, id, fullName, hours },
  }))
  await doctorStore({ table }).save(clinic.id, changes)
  const rooms = [aRoom(), aRoom()]
  await roomStore({ table }).save(
    clinic.id,
    rooms.map((after) => ({ before: null, after })),
  )
  const { headers } = await issueCredential(table, clinic)
  const number = ++created
  const suffix = `c${number}`
  const patient = aPatient({ firstName: 'Ada', lastName: `first${suffix}`, phoneNumber: null })
  await patientWriter({ table }).createMany(clinic.id, [patient])
  const { id, lastName, emailAddress: email } = patient
  const owner = newPatient(lastName, { id, isFirst: true, existence: 'certain', email })
  const invoices = ['1', '2', '3'].map((at) =>
    anInvoice({
      id: newUuid(),
      number: `f${at}${suffix}`,
      total: 10_000,
      lineItems: [],
      patient: { id, fullName: fullName(patient), email },
    }),
  )
  for (const invoice of invoices) await createRecord(table, clinic, invoiceStore({ table }), invoice)
  const phone = (operation: number) =>
    `+90532${String(number % 10_000).padStart(4, '0')}${String(operation).padStart(3, '0')}`
  const { Authorization: authorization } = headers
  return emptyClinicModel({
    index,
    id: clinic.id,
    authorization,
    suffix,
    phone,
    rooms: rooms.map(({ id }) => id),
    doctors,
    patients: [owner],
    invoices: invoices.map(({ id, number }) => ({ id, token: number, patient: owner, existence: 'certain' })),
  })
}
