import type { LineItemFiles } from '../../../bin/clinic/import/run/line-items.ts'
import { clinicStore } from '../../store/clinics.ts'
import { readImportKeys } from '../../store/external-ids/derive.ts'
import { type Table, withoutEvents } from '../../store/table/table.ts'
import { ownRecords } from '../external-ids/resolve-rows.ts'
import { appointmentImport } from './appointments.ts'
import { departmentImport, roomImport } from './departments-and-rooms.ts'
import { doctorImport } from './doctors.ts'
import type { ImportableEntity, ImportEntity } from './entity.ts'
import { holidayImport } from './holidays.ts'
import { invoiceImport } from './invoices.ts'
import { messageImport } from './messages.ts'
import { patientImport } from './patients.ts'
import { paymentImport } from './payments.ts'
import { priceListImport } from './price-lists.ts'
import { treatmentImport } from './treatments.ts'

/** Every importable entity, each listed after the entities that its rows refer to. */
export function importEntities(table: Table, now: () => number, { events = false } = {}): ImportableEntity[] {
  // Imported history announces events only on request.
  const target = events ? table : withoutEvents(table)
  const entities = [
    departmentImport(target),
    doctorImport(target),
    holidayImport(target),
    roomImport(target),
    treatmentImport(target),
    priceListImport(target),
    patientImport(target, now),
    appointmentImport(target, now),
    invoiceImport(target, now),
    paymentImport(target, now),
    messageImport(target, now),
  ] as ImportEntity[]
  const { requireNotDeleting } = clinicStore({ table })
  return entities.map(({ write, finish, ...entity }) => ({
    ...entity,
    readKeys: (clinic) => readImportKeys(target, clinic),
    ownRecords: (clinic, keys) => ownRecords(target, clinic, keys),
    // A deletion that begins during a batch waits for it, and the next batch is rejected.
    write: async (run, batch) => {
      await requireNotDeleting(run.clinic.id)
      await write(run, batch)
    },
    finish: async (clinic) => {
      if (finish) await requireNotDeleting(clinic.id)
      await finish?.(clinic)
    },
  }))
}

/** What files can have: the entities, and line items in files of their own. */
export const importableFiles = (
  entities: readonly ImportableEntity[],
  lineItems: LineItemFiles,
): ImportableEntity[] =>
  entities.flatMap((entity) =>
    entity.name === 'invoices' ? [lineItems.entity(entity), lineItems.addTo(entity)] : [entity],
  )
