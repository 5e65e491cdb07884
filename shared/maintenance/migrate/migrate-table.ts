import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { migrationProgressKey } from '../../store/keys/operator.ts'
import { mapConcurrent } from '../../store/table/map-concurrent.ts'
import type { Table } from '../../store/table/table.ts'
import type { Item } from '../../store/table/write-requests.ts'
import { migrateItem } from './migrate-item.ts'
import type { Migration } from './migrations.ts'
import { readTableFormat, recordTableFormat } from './migrations.ts'

export type MigratingTable = {
  readonly table: Table
  /** Scans, which no function does. */
  readonly client: Pick<DynamoDBDocumentClient, 'send'>
  readonly name: string
}

/** Parts of the table that are read concurrently. */
const SEGMENTS = 8

/** Items of a segment that are changed at a time. */
const CONCURRENCY = 8

/** Functions of the release before may still have been running during the first pass. */
const MAX_PASSES = 5

export type MigrationResult = { readonly format: number; readonly migrated: number; readonly passes: number }

/**
 * Migrates all items while the API is serving, and passes over the table until a pass finds nothing to change. Then the table has
 * the format. An interrupted run continues where it ended. @throws Error if items of the format before are still being written
 */
export async function migrateTable(platform: MigratingTable, migration: Migration): Promise<MigrationResult> {
  const { table } = platform
  const { format } = migration
  if ((await readTableFormat(table)) >= format) return { format, migrated: 0, passes: 0 }
  let migrated = 0
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const counts = await Promise.all(
      Array.from({ length: SEGMENTS }, (_, segment) => migrateSegment(platform, migration, segment)),
    )
    const inPass = counts.reduce((sum, count) => sum + count.migrated, 0)
    migrated += inPass
    const wasWhole = counts.every(({ isWhole }) => isWhole)
    await table.deleteMany(counts.map((_, segment) => migrationProgressKey(format, segment)))
    if (inPass > 0 || !wasWhole) continue
    await recordTableFormat(table, format)
    return { format, migrated, passes: pass }
  }
  throw new Error(`Items of a format before ${format} are still being written: is this version deployed?`)
}

/** Migrates a part of the table, from where an interrupted run ended. `isWhole` if that was from its beginning. */
async function migrateSegment(
  { table, client, name }: MigratingTable,
  migration: Migration,
  segment: number,
): Promise<{ migrated: number; isWhole: boolean }> {
  const progress = migrationProgressKey(migration.format, segment)
  let from = (await table.get(progress))?.from as Record<string, unknown> | undefined
  const isWhole = from === undefined
  let migrated = 0
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: name,
        Segment: segment,
        TotalSegments: SEGMENTS,
        ConsistentRead: true,
        ExclusiveStartKey: from,
      }),
    )
    const items = ((page.Items ?? []) as Item[]).filter(migration.concerns)
    const changes = await mapConcurrent(CONCURRENCY, items, (item) => migrateItem(table, migration, item))
    migrated += changes.filter((isChanged) => isChanged).length
    from = page.LastEvaluatedKey
    if (from) await table.putMany([{ ...progress, from }])
  } while (from)
  return { migrated, isWhole }
}
