/** Writes the records of a request once: a repetition gets the response that was stored. */
import type { SyncResult } from '../api/sync.ts'
import type { ClinicInfo } from '../domain/clinic.ts'
import { StoredResponse } from '../domain/stored-response.ts'
import { copiedNames } from '../store/copies/copied-names.ts'
import { holidaysOwner } from '../store/keys/copies.ts'
import { Changeset } from '../store/table/changeset.ts'
import { ConditionFailed } from '../store/table/errors.ts'
import { RequestCompleted, type RequestedWrite } from '../store/table/idempotency.ts'
import { currentScope, optionalWork } from '../store/table/request-scope.ts'
import { type Table, withSource } from '../store/table/table.ts'
import { importEntities } from '../sync/entities/entities.ts'
import { externalIdOf } from '../sync/external-ids/resolve-references.ts'
import { type SyncedRecord, writeRecords } from '../sync/sync-records.ts'

type SyncRequest = {
  readonly entity: string
  readonly records: readonly Readonly<Record<string, unknown>>[]
  readonly overwrite?: boolean | undefined
  readonly allow_overlaps?: boolean | undefined
}

export function requestedSync({ table: shared, now }: { readonly table: Table; readonly now: () => number }) {
  const table = withSource(shared, 'sync')
  const entities = importEntities(table, now, { events: true })
  const copies = copiedNames(table)

  async function write(
    clinic: ClinicInfo,
    { entity: name, records, overwrite = false, allow_overlaps: allowOverlaps = false }: SyncRequest,
    request: RequestedWrite<readonly SyncedRecord[]>,
  ): Promise<readonly SyncedRecord[]> {
    await request.requireNew(async (stored) => withExternalIds(stored, records))
    const entity = entities.find((one) => one.name === name)
    if (!entity) throw new RangeError(`no entity ${name}`)
    // What was written must be reported in the time that the function has: half of it is for writing.
    const signal = AbortSignal.timeout(Math.max(0, Math.floor(currentScope().deadline - performance.now())))
    const options = { overwrite, allowOverlaps, now: now(), signal }
    const results = await writeRecords(table, entity, clinic, records, options)
    const isComplete = !results.some(({ issues }) => issues.some(({ issue }) => issue === 'unavailable'))
    if (isComplete) await store(clinic, results, request)
    // Holidays close their days at once. Other copies are refreshed by workers.
    if (name === 'holidays') await optionalWork(() => copies.refresh(clinic.id, holidaysOwner(clinic.id)))
    return results
  }

  async function store(
    { id }: ClinicInfo,
    results: readonly SyncedRecord[],
    request: RequestedWrite<readonly SyncedRecord[]>,
  ): Promise<void> {
    const changes = new Changeset(table, id)
    // External ids can be national ids, which an erasure would not find in responses about several patients.
    const unnamed = results.map((one) => ({ ...one, externalId: null }))
    request.store(changes, unnamed, '')
    let isFirst = true
    const commit = () =>
      changes.commit().catch((error: unknown) => {
        if (!(error instanceof ConditionFailed)) throw error
        isFirst = false
      })
    await optionalWork(commit)
    // A copy of the request that ran at the same time was the first to store its response. If that cannot be read, this one counts.
    if (!isFirst)
      await request.requireNew().catch((error: unknown) => {
        if (error instanceof RequestCompleted) throw error
      })
  }

  return { write }
}

/** A stored response with the external ids of the repeated request. */
function withExternalIds({ status, body }: StoredResponse, records: SyncRequest['records']): StoredResponse {
  const stored: { data: SyncResult[] } = JSON.parse(body)
  const data = stored.data.map((one, at) => ({ ...one, external_id: externalIdOf(records[at]?.external_id) }))
  return new StoredResponse(status, JSON.stringify({ ...stored, data }))
}
