import { clinicStore } from '../../../../shared/store/clinics.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { importEntities } from '../../../../shared/sync/entities/entities.ts'
import type { ImportableEntity } from '../../../../shared/sync/entities/entity.ts'
import { usedNumbers } from './invoice-numbers.ts'
import { knownPeople } from './known-people.ts'
import type { LineItemFiles } from './line-items.ts'

/** The entities of files, whose rows are compared with all people and invoice numbers of the clinic at once. */
export function fileEntities(
  table: Table,
  now: () => number,
  options?: { events: boolean },
): ImportableEntity[] {
  const entities = importEntities(table, now, {
    ...options,
    lookupsOf: (target) => ({
      peopleOf: (clinic) => knownPeople(target, clinic),
      numbersOf: (clinic) => usedNumbers(target, clinic),
    }),
  })
  const { requireNotDeleting } = clinicStore({ table })
  return entities.map(({ write, finish, ...entity }) => ({
    ...entity,
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
