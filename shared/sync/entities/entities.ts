import { readImportKeys } from '../../store/external-ids/derive.ts'
import { type Table, withoutEvents } from '../../store/table/table.ts'
import { ownRecords } from '../external-ids/resolve-rows.ts'
import { appointmentImport } from './appointments.ts'
import { departmentImport, priceListImport, roomImport, treatmentImport } from './catalogue.ts'
import { doctorImport } from './doctors.ts'
import type { ImportableEntity, ImportEntity } from './entity.ts'
import { holidayImport } from './holidays.ts'
import { invoiceImport } from './invoices.ts'
import { type Lookups, queryLookups } from './lookups.ts'
import { messageImport } from './messages.ts'
import { patientImport } from './patients.ts'
import { paymentImport } from './payments.ts'

/** Every importable entity, each listed after the entities that its rows refer to. */
export function importEntities(
  table: Table,
  now: () => number,
  {
    events = false,
    lookupsOf = queryLookups,
  }: { events?: boolean; lookupsOf?: (table: Table) => Lookups } = {},
): ImportableEntity[] {
  // Imported history announces events only on request.
  const target = events ? table : withoutEvents(table)
  const lookups = lookupsOf(target)
  const entities = [
    departmentImport(target),
    doctorImport(target),
    holidayImport(target),
    roomImport(target),
    treatmentImport(target),
    priceListImport(target),
    patientImport(target, now, lookups),
    appointmentImport(target, now),
    invoiceImport(target, now, lookups),
    paymentImport(target, now),
    messageImport(target, now),
  ] as ImportEntity[]
  return entities.map((entity) => ({
    ...entity,
    readKeys: (clinic) => readImportKeys(target, clinic),
    ownRecords: (clinic, keys) => ownRecords(target, clinic, keys),
  }))
}
