import { walkKey } from '../../store/keys/operator.ts'
import { mapConcurrent } from '../../store/table/map-concurrent.ts'
import type { Table } from '../../store/table/table.ts'
import { type Scannable, tableItems } from '../walk/sources.ts'
import { type WalkOptions, walk } from '../walk/walk.ts'
import { migrateItem } from './migrate-item.ts'
import { formatOf, type Migration, readTableFormat, recordTableFormat } from './migrations.ts'

export type MigratingTable = Scannable &
  WalkOptions & {
    readonly table: Table
    /** When the stack was last deployed. Progress of before is not continued: functions may have written the format before since. */
    readonly deployedAt?: string
  }

/** Items of a segment that are changed at a time. */
const CONCURRENCY = 8

export type MigrationResult = { readonly format: number; readonly migrated: number; readonly passes: number }

/**
 * Migrates all items while the API is serving. Functions of the release before may still have been running during the first pass, so
 * the table is walked until a pass finds nothing to change. Then it has the format.
 * @throws StillFound if items of the format before are still being written; WalkTaken
 */
export async function migrateTable(
  { table, client, name, deployedAt, ...options }: MigratingTable,
  migration: Migration,
): Promise<MigrationResult> {
  const { format } = migration
  if ((await readTableFormat(table)) >= format) return { format, migrated: 0, passes: 0 }
  return walk(
    table,
    tableItems({ client, name }),
    {
      progress: walkKey('maintain', `migrate#${format}`),
      ...(deployedAt !== undefined && { subject: deployedAt }),
      concerns: (item) => migration.concerns(item) && formatOf(item) < format,
      visit: async (items) => {
        const changes = await mapConcurrent(CONCURRENCY, items, (item) => migrateItem(table, migration, item))
        return { migrated: changes.filter((isChanged) => isChanged).length }
      },
      untilNothingFound: {
        error: `Items of a format before ${format} are still being written: is this version deployed?`,
      },
      finish: async ({ counts: { migrated = 0 }, passes }) => {
        await recordTableFormat(table, format)
        return { format, migrated, passes }
      },
    },
    options,
  )
}
