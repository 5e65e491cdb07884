import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import type { Table } from '../../../shared/store/table/table.ts'

/** The number of a clinic's records of each kind, without its small lists. */
export async function recordCounts(table: Table, clinic: ClinicId) {
  const first = { page: 1, limit: 1 }
  const [patients, appointments, invoices, payments, messages] = await Promise.all([
    patientStore({ table }).page(clinic, first),
    appointmentStore({ table }).page(clinic, {}, first),
    invoiceStore({ table }).page(clinic, {}, first),
    paymentStore({ table }).page(clinic, {}, first),
    messageStore({ table }).page(clinic, {}, first),
  ])
  return {
    patients: patients.total,
    appointments: appointments.total,
    invoices: invoices.total,
    payments: payments.total,
    messages: messages.total,
  }
}

/** The number of all of them. */
export const recordCount = async (table: Table, clinic: ClinicId): Promise<number> =>
  Object.values(await recordCounts(table, clinic)).reduce((sum, count) => sum + count, 0)
