/**
 * Deletes a clinic: everything but the ledger of its erasures. A stopped deletion continues when it is repeated: the clinic
 * itself goes last.
 */
import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb'
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import { ClinicBeingDeleted, clinicStore, type StoredClinic } from '../../../shared/store/clinics.ts'
import { deletedClinics } from '../../../shared/store/copies/deleted-clinics.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import {
  clinicItemsFilter,
  credentialUsePartition,
  isClinicItem,
  isNeededToDelete,
} from '../../../shared/store/keys/clinic-items.ts'
import {
  clinicCredentialsPartition,
  clinicDirectoryKey,
  clinicKey,
  credentialKey,
} from '../../../shared/store/keys/clinics.ts'
import type { Key } from '../../../shared/store/keys/key.ts'
import { ConditionFailed } from '../../../shared/store/table/errors.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { VISIBILITY_DELAY_MS } from '../../../shared/store/table/visibility-delay.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import { CommandFailure, EXIT } from '../tool/output.ts'

export type RemovalPlatform = {
  readonly table: Table
  /** Scans the table `name`: only a scan finds items that no list names. */
  readonly client: Pick<DynamoDBDocumentClient, 'send'>
  readonly name: string
  readonly operator: string
  readonly sleep: (ms: number) => Promise<unknown>
  readonly onProgress?: (scanned: number) => void
}

/** Parts of the table that are read side by side. */
const SEGMENTS = 8

/** Requests and workers that had begun before can write for some seconds. */
const MAX_PASSES = 5

/**
 * Deletes the clinic, and returns the number of deleted items.
 * @throws ClinicBeingDeleted if another deletion of the clinic ends first; CommandFailure if its items are still being written
 */
export async function removeClinic(platform: RemovalPlatform, clinic: Clinic): Promise<number> {
  const { table, operator, sleep } = platform
  const { id } = clinic
  const ledger = deletedClinics({ table })
  const begun = new Date(table.now()).toISOString()
  await ledger.begin(id, { at: begun, operator })
  // From here on no credential is issued, and the clinic does not change.
  const marked = await clinicStore({ table }).beginDeletion(id, begun)
  await credentialStore({ table, now: table.now }).refreshClinic(marked)
  const revokedAt = await revokeAll(table, id)
  const last = [marked.deletingAt ?? begun, ...revokedAt].toSorted().at(-1) as string
  const wait = Date.parse(last) + VISIBILITY_DELAY_MS - table.now()
  if (wait > 0) await sleep(wait)

  let deleted = 0
  for (let pass = 1, found = 1; found > 0; pass++) {
    if (pass > MAX_PASSES)
      throw new CommandFailure(
        'Items of the clinic are still being written. Repeat the command.',
        EXIT.failed,
      )
    found = await deletePass(platform, id)
    deleted += found
  }
  return deleted + (await deleteRest(table, marked))
}

/** Revokes the clinic's credentials. Returns when each was revoked. */
async function revokeAll(table: Table, clinic: ClinicId): Promise<string[]> {
  const credentials = credentialStore({ table, now: table.now })
  const times: string[] = []
  for (const { key } of await credentials.list(clinic)) {
    const revoked = await credentials.revoke(key)
    if (revoked?.revokedAt) times.push(revoked.revokedAt)
  }
  return times
}

/** Scans the table once, and deletes what it finds of the clinic. Returns the number of items. */
async function deletePass(platform: RemovalPlatform, clinic: ClinicId): Promise<number> {
  const segments = Array.from({ length: SEGMENTS }, (_, segment) => deleteSegment(platform, clinic, segment))
  return (await Promise.all(segments)).reduce((sum, count) => sum + count, 0)
}

async function deleteSegment(
  { table, client, name, onProgress = () => {} }: RemovalPlatform,
  clinic: ClinicId,
  segment: number,
): Promise<number> {
  const credentials = clinicCredentialsPartition(clinic)
  let count = 0
  let from: Record<string, unknown> | undefined
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: name,
        Segment: segment,
        TotalSegments: SEGMENTS,
        ConsistentRead: true,
        ExclusiveStartKey: from,
        ...clinicItemsFilter(clinic),
      }),
    )
    const found = ((page.Items ?? []) as Item[]).filter(
      (item) => isClinicItem(clinic, item) && !isNeededToDelete(clinic, item, credentials),
    )
    await table.deleteMany(found)
    count += found.length
    onProgress(page.ScannedCount ?? 0)
    from = page.LastEvaluatedKey
  } while (from)
  return count
}

/** Deletes the credentials with their use, and at last the clinic itself. Returns the number of items. */
async function deleteRest(table: Table, { id, version }: StoredClinic): Promise<number> {
  const credentials = await deleteCredentials(table, id)
  const writes = [
    table.deleteWrite(clinicKey(id), version),
    table.deleteWrite(clinicDirectoryKey(id)),
    deletedClinics({ table }).finishWrite(id),
  ]
  await table.transact(writes).catch(async (error) => {
    // Another deletion has ended first.
    const isDeleted = error instanceof ConditionFailed && (await clinicStore({ table }).find(id)) === null
    throw isDeleted ? new ClinicBeingDeleted(id, true) : error
  })
  // An earlier version of the tool can issue credentials until the clinic itself is gone.
  return credentials + 2 + (await deleteCredentials(table, id))
}

/** Deletes the credentials of the clinic's list, with their use. Returns the number of items, without the items of their use. */
async function deleteCredentials(table: Table, clinic: ClinicId): Promise<number> {
  const rows = await table.query({ pk: clinicCredentialsPartition(clinic), limit: 1_000_000 })
  for (const row of rows) {
    const uses: Key[] = await table.query({ pk: credentialUsePartition(row.sk), limit: 1_000_000 })
    await table.deleteMany([...uses, credentialKey(row.sk)])
    await table.deleteMany([row])
  }
  return 2 * rows.length
}
