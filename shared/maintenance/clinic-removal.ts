/**
 * Deletes a clinic: everything but the ledger of its erasures. A stopped deletion continues when it is repeated: the clinic
 * itself goes last.
 */
import type { Clinic, ClinicId } from '../domain/clinic.ts'
import { ClinicBeingDeleted, clinicStore, type StoredClinic } from '../store/clinics.ts'
import { deletedClinics } from '../store/copies/deleted-clinics.ts'
import { credentialStore } from '../store/credentials.ts'
import {
  clinicItemsFilter,
  credentialUsePartition,
  isClinicItem,
  isNeededToDelete,
} from '../store/keys/clinic-items.ts'
import {
  clinicCredentialsPartition,
  clinicDirectoryKey,
  clinicKey,
  credentialKey,
} from '../store/keys/clinics.ts'
import { type Key, shortId } from '../store/keys/key.ts'
import { unlistedCredentialKey, walkKey } from '../store/keys/operator.ts'
import { ConditionFailed } from '../store/table/errors.ts'
import type { Table } from '../store/table/table.ts'
import { VISIBILITY_DELAY_MS } from '../store/table/visibility-delay.ts'
import { noteUnlisted, unlistedOf } from './verify/unlisted-credentials.ts'
import { type Scannable, tableItems } from './walk/sources.ts'
import { type WalkOptions, walk } from './walk/walk.ts'

/** Only a scan finds items that no list names. */
export type RemovalPlatform = Scannable &
  WalkOptions & {
    readonly table: Table
    readonly operator: string
    readonly sleep: (ms: number) => Promise<unknown>
  }

/**
 * Deletes the clinic, and returns the number of deleted items.
 * @throws ClinicBeingDeleted if another deletion of the clinic ends first; StillFound if its items are still being written; WalkTaken
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
  const revokedAt = await revokeAll(platform, id)
  const last = [marked.deletingAt ?? begun, ...revokedAt].toSorted().at(-1) ?? begun
  const wait = Date.parse(last) + VISIBILITY_DELAY_MS - table.now()
  if (wait > 0) await sleep(wait)

  const credentials = clinicCredentialsPartition(id)
  return walk(
    table,
    tableItems(platform, clinicItemsFilter(id)),
    {
      progress: progressOf(id),
      concerns: (item) => isClinicItem(id, item) && !isNeededToDelete(id, item, credentials),
      visit: async (items) => {
        await table.deleteMany(items)
        return { deleted: items.length }
      },
      untilNothingFound: { error: 'Items of the clinic are still being written. Repeat the command.' },
      finish: async ({ counts: { deleted = 0 } }) => deleted + (await deleteRest(table, marked)),
    },
    platform,
  )
}

const progressOf = (clinic: ClinicId): Key => walkKey('maintain', `delete#${shortId(clinic)}`)

/** Revokes the clinic's credentials, and lists those that its list lacks. Returns when each was revoked. */
async function revokeAll(platform: RemovalPlatform, clinic: ClinicId): Promise<string[]> {
  const { table } = platform
  const credentials = credentialStore({ table, now: table.now })
  const times: string[] = []
  const revokeEach = async (keys: readonly string[]) => {
    for (const key of keys) {
      const revoked = await credentials.revoke(key)
      if (revoked?.revokedAt) times.push(revoked.revokedAt)
    }
  }
  await revokeEach((await credentials.list(clinic)).map(({ key }) => key))
  await noteUnlisted(platform, clinic)
  const unlisted = await unlistedOf(table, clinic)
  await revokeEach(unlisted)
  await table.deleteMany(unlisted.map((key) => unlistedCredentialKey(clinic, key)))
  return times
}

/** Deletes the credentials with their use, and at last the clinic itself. Returns the number of items. */
async function deleteRest(table: Table, { id, version }: StoredClinic): Promise<number> {
  const credentials = await deleteCredentials(table, id)
  const writes = [
    table.deleteWrite(clinicKey(id), version),
    table.deleteWrite(clinicDirectoryKey(id)),
    deletedClinics({ table }).finishWrite(id),
    // Without the clinic, the command could not be repeated to delete it.
    table.deleteWrite(progressOf(id)),
  ]
  await table.transact(writes).catch(async (error) => {
    // Another deletion has ended first.
    const isDeleted = error instanceof ConditionFailed && (await clinicStore({ table }).find(id)) === null
    if (!isDeleted) throw error
    await table.deleteMany([progressOf(id)])
    throw new ClinicBeingDeleted(id, true)
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
