/** The two clinics of a history: new, with two doctors, two rooms and a credential each. */
import { NEW_DOCTOR } from '../../bin/clinic/import/entities/doctors.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { roomStore } from '../../shared/store/catalogue.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { readImportIds } from '../../shared/store/external-ids/derive.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { aRoom } from '../support/catalogue.ts'
import { issueCredential } from '../support/credentials.ts'
import { newClinic } from '../support/table.ts'
import { type ClinicModel, emptyClinicModel } from './model.ts'
import { Register } from './register.ts'

let created = 0

export async function createClinics(table: Table): Promise<[ClinicModel, ClinicModel]> {
  return [await createClinic(table, 0), await createClinic(table, 1)]
}

async function createClinic(table: Table, index: 0 | 1): Promise<ClinicModel> {
  const clinic: Clinic = await newClinic(table, { name: `Clinic ${index}` })
  const idOf = await readImportIds(table, clinic.id)
  const hours = parseWeeklyHours('mon-sun 08:00-20:00')
  const doctors = ['1', '2'].map((externalId) => ({
    externalId,
    id: idOf('doctor', externalId),
    name: new Register(`Dr. ${externalId}`),
  }))
  const changes = doctors.map(({ id, externalId }) => ({
    before: null,
    after: { ...NEW_DOCTOR, id, fullName: `Dr. ${externalId}`, hours },
  }))
  await doctorStore({ table }).save(clinic.id, changes)
  const rooms = [aRoom(), aRoom()]
  await roomStore({ table }).save(
    clinic.id,
    rooms.map((after) => ({ before: null, after })),
  )
  const { headers } = await issueCredential(table, clinic)
  const number = ++created
  const phone = (operation: number) =>
    `+90532${String(number % 10_000).padStart(4, '0')}${String(operation).padStart(3, '0')}`
  const { Authorization: authorization } = headers
  return emptyClinicModel({
    index,
    id: clinic.id,
    authorization,
    suffix: `c${number}`,
    phone,
    idOf,
    rooms: rooms.map(({ id }) => id),
    doctors,
  })
}
