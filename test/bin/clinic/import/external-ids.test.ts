/** The ids of records in the clinic's own system, which imports keep for the operator alone. */
import { beforeEach, describe, expect, it } from 'vitest'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { type ImportIds, readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { tableText } from '../../../support/table-text.ts'
import { appointment, importedClinic, invoice, message, payment } from './calendar-fixtures.ts'

const imported = importedClinic()
const { load } = imported

const NATIONAL_ID = 'tckn-10000000146'
const rows = {
  doctors: { external_id: 'doctor-canary', full_name: 'Dr. Eva Noll' },
  patients: { external_id: NATIONAL_ID, first_name: 'Ada', last_name: 'Kaya', email_address: 'a@x.org' },
  appointments: {
    ...appointment,
    external_id: 'appointment-canary',
    patient_external_id: NATIONAL_ID,
    doctor_external_id: 'doctor-canary',
  },
  invoices: { ...invoice, external_id: 'invoice-canary', patient_external_id: NATIONAL_ID, subtotal: 100 },
  payments: { ...payment, external_id: 'payment-canary', invoice_external_id: 'invoice-canary' },
  messages: { ...message, external_id: 'message-canary', patient_external_id: NATIONAL_ID },
}
const CANARY = /canary|10000000146/

let idOf: ImportIds
beforeEach(async () => {
  for (const [name, row] of Object.entries(rows)) await load(name, [row])
  idOf = await readImportIds(imported.db.table, imported.clinic.id)
})

/** All that is stored of the clinic, except what names the doctor. */
const clinicText = async () => {
  const clinic = shortId(imported.clinic.id).toLowerCase()
  const lines = (await tableText(imported.db)).split('\n').filter((line) => line.includes(clinic))
  expect(lines.length).toBeGreaterThan(10)
  return lines.join('\n').replaceAll('doctor-canary', '')
}

const externalIds = async () => {
  const { db, clinic } = imported
  const patient = (await patientStore(db).findMany(clinic.id, [idOf('patient', NATIONAL_ID)])).values().next()
  const records = await Promise.all([
    doctorStore(db).find(clinic.id, idOf('doctor', 'doctor-canary')),
    appointmentStore(db).find(clinic.id, idOf('appointment', 'appointment-canary')),
    invoiceStore(db).find(clinic.id, idOf('invoice', 'invoice-canary')),
    paymentStore(db).find(clinic.id, idOf('payment', 'payment-canary')),
    messageStore(db).find(clinic.id, idOf('message', 'message-canary')),
  ])
  return [patient.value, ...records].map((record) => record?.externalId)
}

describe('the external id of an imported record', () => {
  it('is kept by the record, also when the record is changed', async () => {
    const all = [
      NATIONAL_ID,
      ...['doctor', 'appointment', 'invoice', 'payment', 'message'].map((of) => `${of}-canary`),
    ]
    expect(await externalIds()).toEqual(all)
    await load('doctors', [{ ...rows.doctors, full_name: 'Dr. Eva Neu' }])
    await load('patients', [{ ...rows.patients, last_name: 'Öz' }])
    await load('payments', [{ ...rows.payments, amount: '30.00' }])
    expect(await externalIds()).toEqual(all)
  })

  it('is removed from every record of a patient who is erased, who stays erased when imported again', async () => {
    const { db, clinic } = imported
    await patientChanges(db.table).erase(clinic.id, idOf('patient', NATIONAL_ID))
    expect(await externalIds()).toEqual([null, 'doctor-canary', undefined, undefined, undefined, undefined])
    expect(await clinicText()).not.toMatch(CANARY)

    const { doctors: _, ...ofPatient } = rows
    for (const [name, row] of Object.entries(ofPatient))
      expect(await load(name, [row])).toMatchObject({ rejected: 1, reasons: ['the patient was erased'] })
    expect(await clinicText()).not.toMatch(CANARY)
  })
})
