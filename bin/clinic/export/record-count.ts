import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import type { Table } from '../../../shared/store/table/table.ts'

/** The number of a clinic's records, without its small lists. */
export async function recordCount(table: Table, clinic: ClinicId): Promise<number> {
  const first = { page: 1, limit: 1 }
  const pages = await Promise.all([
    patientStore({ table }).page(clinic, first),
    appointmentStore({ table }).page(clinic, {}, first),
    invoiceStore({ table }).page(clinic, {}, first),
    paymentStore({ table }).page(clinic, {}, first),
    messageStore({ table }).page(clinic, {}, first),
  ])
  return pages.reduce((sum, { total }) => sum + total, 0)
}
