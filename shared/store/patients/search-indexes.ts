/**
 * Search over a clinic's patients: an index in the function's memory, loaded from snapshot segments and kept
 * current by what was created and updated since. Two round trips when nothing changed, three otherwise.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import { SearchIndex } from '../../domain/patients/search-index.ts'
import { UnavailableError } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import { type PatientHead, readPatientHead } from './head.ts'
import { indexedState, readLinesSince } from './search-lines.ts'
import { readSegment } from './segments.ts'

/** Characters of cached indexes over all clinics; a million patients take about 50 million. */
const MEMORY_BUDGET = 100_000_000

/** An index that lacks more updates is loaded from its segments: a row costs about twenty times its line in a segment. */
const maxRowsBehind = (patients: number): number => 500 + patients / 20

/** A cold load is repeated when a snapshot overtakes it; after so many attempts a segment must be missing. */
const MAX_LOAD_ATTEMPTS = 5

export function searchIndexes({ table }: { table: Table }, memoryBudget = MEMORY_BUDGET) {
  /** Least recently used first. */
  const indexes = new Map<ClinicId, SearchIndex>()

  /** The index with everything that is stored now, or at least what a head that was read counts. */
  async function current(clinic: ClinicId, known?: PatientHead): Promise<SearchIndex> {
    const head = known ?? (await readPatientHead(table, clinic))
    const cached = indexes.get(clinic)
    const index = (cached && (await advanceIndex(clinic, cached, head))) ?? (await loadIndex(clinic, head))
    cacheIndex(clinic, index)
    return index
  }

  /** The cached index brought up to the head, or null when it lacks too many updates. */
  async function advanceIndex(
    clinic: ClinicId,
    index: SearchIndex,
    head: PatientHead,
  ): Promise<SearchIndex | null> {
    for (;;) {
      const { patients: count, updates: last, deletedUpdates } = head
      if (index.updates < deletedUpdates || count - index.patients > maxRowsBehind(count)) return null
      // A concurrent request may have read a later head and brought the index further.
      if (index.patients >= count && index.updates >= last) return index
      const { patients, updates } = index
      const lines = await readLinesSince(table, clinic, { patients, updates }, head)
      if (!lines) return null
      // Lines of an older state must not overwrite the newer ones that a concurrent request has applied.
      if (index.patients === patients && index.updates === updates) {
        index.advance(lines, count, last)
        return index
      }
    }
  }

  /** A new index: the segments and the later log entries, read concurrently. */
  async function loadIndex(clinic: ClinicId, head: PatientHead, attempt = 1): Promise<SearchIndex> {
    const [segments, delta] = await Promise.all([
      Promise.all(head.segmentVersions.map((version, index) => readSegment(table, clinic, index, version))),
      readLinesSince(table, clinic, indexedState(head), head),
    ])
    const read = segments.flatMap((found) => (found ? [found.segment] : []))
    // A snapshot between these reads has deleted log entries: read again from the current head.
    if (!delta || read.length < segments.length) {
      if (attempt === MAX_LOAD_ATTEMPTS) throw new UnavailableError('the search segments cannot be read')
      return loadIndex(clinic, await readPatientHead(table, clinic), attempt + 1)
    }
    const index = new SearchIndex(read, head.indexedPatients, head.indexedUpdates)
    index.advance(delta, head.patients, head.updates)
    return index
  }

  function cacheIndex(clinic: ClinicId, index: SearchIndex): void {
    indexes.delete(clinic)
    indexes.set(clinic, index)
    let cachedSize = [...indexes.values()].reduce((sum, { size }) => sum + size, 0)
    for (const [oldest, { size }] of indexes) {
      if (cachedSize <= memoryBudget || oldest === clinic) break
      indexes.delete(oldest)
      cachedSize -= size
    }
  }

  return { current }
}
