/** Import files of a clinic: each patient has 5 appointments, and 2 invoices with a payment each. */
import { APPOINTMENT_STATUSES } from '../../shared/domain/booking/appointment.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { importRows } from '../../test/support/imports.ts'
import { newClinic } from '../../test/support/table.ts'
import type { Bench } from './report.ts'

/** Records of a patient, itself included. */
export const RECORDS_PER_PATIENT = 10

const DOCTORS = 10
const LAST_DAY = '2026-04-30'

/** The rows of all files, by entity, in the order in which they are imported. */
export function clinicRows(count: number) {
  const ids = Array.from({ length: count }, (_, at) => at)
  const item = { description: 'Check-up', quantity: 1, unit_price: '100.00', tax_rate: 10 }
  const invoices = [...ids, ...ids].map((patient, at) => ({
    external_id: `invoice-${at}`,
    patient_external_id: `patient-${patient}`,
    invoice_number: `INV-${at}`,
    issue_date: addDays(LAST_DAY, -((37 * at) % 700)),
    line_items: [item, { ...item, description: 'Filling', unit_price: '50.00' }],
  }))
  return {
    patients: ids.map((id) => ({
      external_id: `patient-${id}`,
      first_name: 'Zeynep',
      last_name: `Öztürk ${id}`,
      date_of_birth: `${1930 + ((7 * id) % 95)}-05-17`,
      phone_number: `+9053${10_000_000 + ((7_919_993 * id) % 90_000_000)}`,
      email_address: `patient${id}@example.com`,
    })),
    doctors: Array.from({ length: DOCTORS }, (_, at) => ({
      external_id: `doctor-${at}`,
      full_name: `Dr. Bo Lind ${at}`,
    })),
    // Without overlaps: eight a day for each doctor.
    appointments: Array.from({ length: 5 * count }, (_, at) => ({
      external_id: `appointment-${at}`,
      patient_external_id: `patient-${at % count}`,
      doctor_external_id: `doctor-${at % DOCTORS}`,
      appointment_date: addDays(LAST_DAY, -Math.floor(at / DOCTORS / 8)),
      start_time: `${10 + (Math.floor(at / DOCTORS) % 8)}:00`,
      end_time: `${10 + (Math.floor(at / DOCTORS) % 8)}:30`,
      status: APPOINTMENT_STATUSES[(at % 7) % 4],
      notes: 'Control appointment, no complaints.',
    })),
    invoices,
    payments: invoices.map(({ external_id, issue_date }) => ({
      external_id: external_id.replace('invoice', 'payment'),
      invoice_external_id: external_id,
      amount: '165.00',
      payment_method: 'card',
      payment_date: issue_date,
    })),
  }
}

/** Creates a clinic with imported records, in this process and without the pauses of the operator tool. */
export async function buildClinic({ table, folder }: Bench, patients: number): Promise<Clinic> {
  const clinic = await newClinic(table)
  for (const [entity, rows] of Object.entries(clinicRows(patients))) {
    const { imported } = await importRows(folder, table, clinic, entity, rows, { now: Date.now })
    if (imported !== rows.length) throw new Error(`${imported} of ${rows.length} ${entity} were imported.`)
  }
  return clinic
}
