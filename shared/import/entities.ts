import type { Table } from '../store/table.ts'
import { appointmentImport } from './appointments.ts'
import { doctorImport } from './doctors.ts'
import type { ImportEntity } from './entity.ts'
import { invoiceImport } from './invoices.ts'
import { messageImport } from './messages.ts'
import { patientImport } from './patients.ts'
import { paymentImport } from './payments.ts'

/** Every kind of file there is, in the order that lets later ones refer to earlier ones. */
export const importEntities = (table: Table, now: () => number): ImportEntity[] =>
  [
    doctorImport(table),
    patientImport(table, now),
    appointmentImport(table, now),
    invoiceImport(table, now),
    paymentImport(table, now),
    messageImport(table, now),
  ] as ImportEntity[]
