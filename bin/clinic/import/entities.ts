import { type Table, withoutEvents } from '../../../shared/store/table/table.ts'
import { appointmentImport } from './appointments.ts'
import { doctorImport } from './doctors.ts'
import type { ImportEntity } from './entity.ts'
import { invoiceImport } from './invoices.ts'
import { messageImport } from './messages.ts'
import { patientImport } from './patients.ts'
import { paymentImport } from './payments.ts'

/** Every kind of file there is, in the order that lets later ones refer to earlier ones. */
export function importEntities(table: Table, now: () => number, { events = false } = {}): ImportEntity[] {
  // History is no news, unless it is asked to be.
  const target = events ? table : withoutEvents(table)
  return [
    doctorImport(target),
    patientImport(target, now),
    appointmentImport(target, now),
    invoiceImport(target, now),
    paymentImport(target, now),
    messageImport(target, now),
  ] as ImportEntity[]
}
