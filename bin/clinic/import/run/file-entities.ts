import * as z from 'zod'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { importEntities } from '../../../../shared/sync/entities/entities.ts'
import type { ImportableEntity } from '../../../../shared/sync/entities/entity.ts'
import { clinicLookups } from './clinic-lookups.ts'

/** The name of files with line items of the invoices in other files. */
export const LINE_ITEMS = 'line-items'

/**
 * What files can have: the entities, whose rows are compared with all people and invoice numbers of the clinic at once, and line items
 * in files of their own.
 */
export function fileEntities(
  table: Table,
  now: () => number,
  options?: { events: boolean },
): ImportableEntity[] {
  const entities = importEntities(table, now, { ...options, lookupsOf: clinicLookups })
  const { requireNotDeleting } = clinicStore({ table })
  return entities.flatMap(({ write, finish, ...entity }) => [
    ...(entity.name === 'invoices' ? [lineItems(entity)] : []),
    {
      ...entity,
      // A deletion that begins during a batch waits for it, and the next batch is rejected.
      write: async (run, batch) => {
        await requireNotDeleting(run.clinic.id)
        await write(run, batch)
      },
      finish: async (clinic, options) => {
        if (finish) await requireNotDeleting(clinic.id)
        await finish?.(clinic, options)
      },
    },
  ])
}

/** What files can have, for its names and columns. It reads and writes nothing. */
export const fileColumns = (): ImportableEntity[] => fileEntities({} as Table, Date.now)

/** Line items in files of their own, under the external ids of invoices: they are checked and written with these. */
const lineItems = ({
  readKeys,
  ownRecords,
}: Pick<ImportableEntity, 'readKeys' | 'ownRecords'>): ImportableEntity => ({
  name: LINE_ITEMS,
  columns: ['line_items'],
  required: [],
  idKind: 'invoice',
  schema: () => z.strictObject({ line_items: z.unknown() }),
  readKeys,
  ownRecords,
  write: async () => {},
})
