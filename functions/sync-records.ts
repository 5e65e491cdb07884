import { renderSync, type SyncResult, syncRecords } from '../shared/api/sync.ts'
import { StoredResponse } from '../shared/domain/stored-response.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import type { Platform } from '../shared/runtime/platform.ts'
import { Changeset } from '../shared/store/table/changeset.ts'
import { ConditionFailed } from '../shared/store/table/errors.ts'
import { RequestCompleted } from '../shared/store/table/idempotency.ts'
import { currentScope, optionalWork } from '../shared/store/table/request-scope.ts'
import { withSource } from '../shared/store/table/table.ts'
import { importEntities } from '../shared/sync/entities/entities.ts'
import { externalIdOf, writeRecords } from '../shared/sync/sync-records.ts'

function sync({ table: shared, now }: Platform) {
  const table = withSource(shared, 'sync')
  return { table, entities: importEntities(table, now, { events: true }) }
}

export const handler = endpoint(
  syncRecords,
  { sync },
  async ({ clinicId, clinic, body, now, write, reportChange }, { sync: { table, entities } }) => {
    const request = write(renderSync)
    await request.requireNew(async (stored) => withExternalIds(stored, body.records))
    const entity = entities.find(({ name }) => name === body.entity)
    if (!entity) throw new RangeError(`no entity ${body.entity}`)
    const { overwrite = false, allow_overlaps: allowOverlaps = false } = body
    // What was written must be reported in the time that the function has: half of it is for writing.
    const signal = AbortSignal.timeout(Math.max(0, Math.floor(currentScope().deadline - performance.now())))
    const options = { overwrite, allowOverlaps, now, signal }
    const results = await writeRecords(table, entity, clinic, body.records, options)
    if (!results.some(({ issues }) => issues.some(({ issue }) => issue === 'unavailable'))) {
      const changes = new Changeset(table, clinicId)
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
    if (results.some(({ outcome }) => outcome === 'created' || outcome === 'updated')) reportChange()
    return renderSync(results)
  },
)

/** A stored response with the external ids of the repeated request. */
function withExternalIds({ status, body }: StoredResponse, records: readonly { external_id?: unknown }[]) {
  const stored: { data: SyncResult[] } = JSON.parse(body)
  const data = stored.data.map((one, at) => ({ ...one, external_id: externalIdOf(records[at]?.external_id) }))
  return new StoredResponse(status, JSON.stringify({ ...stored, data }))
}
