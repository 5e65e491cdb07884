/**
 * Search over a clinic's patients: an index in the function's memory, loaded from snapshot segments and kept
 * current by what was entered and updated since. Two round trips when nothing changed, three otherwise.
 */
import type { ClinicId } from '../domain/clinic.ts'
import { offsetOf, type Page, type PageRequest } from '../domain/paging.ts'
import type { Patient } from '../domain/patient.ts'
import { SEGMENT_SIZE, SearchIndex } from '../domain/search-index.ts'
import { needlesOf } from '../domain/search-text.ts'
import { type PatientHead, readPatientHead } from './patient-head.ts'
import { readLinesSince } from './patient-lines.ts'
import { readSegment } from './patient-segments.ts'
import { patientStore } from './patients.ts'
import type { Table } from './table.ts'

/** Characters of index kept over all clinics; a million patients take about 50 million. */
const MEMORY_BUDGET = 200_000_000

/** An index further behind than this is loaded anew: segments are cheaper than rows. */
const MOST_ROWS_BEHIND = SEGMENT_SIZE

export function patientSearch({ table }: { table: Table }, memoryBudget = MEMORY_BUDGET) {
  /** Least recently used first. */
  const indexes = new Map<ClinicId, SearchIndex>()
  const patients = patientStore({ table })

  /** Patients that match all words of `query` (spec: GET /patients, search), last entered first. */
  async function search(clinic: ClinicId, query: string, request: PageRequest): Promise<Page<Patient>> {
    const needles = needlesOf(query)
    if (!needles) return patients.page(clinic, request)
    const index = await currentIndex(clinic)
    const { total, ordinals } = index.find(needles, offsetOf(request), request.limit)
    return { items: await patients.atOrdinals(clinic, ordinals), total }
  }

  async function currentIndex(clinic: ClinicId): Promise<SearchIndex> {
    const head = await readPatientHead(table, clinic)
    const kept = indexes.get(clinic)
    indexes.delete(clinic)
    const index = (kept && (await advanced(clinic, kept, head))) ?? (await loaded(clinic, head))
    keep(clinic, index)
    return index
  }

  /** The kept index brought up to the head, or null when it is too far behind. */
  async function advanced(
    clinic: ClinicId,
    index: SearchIndex,
    head: PatientHead,
  ): Promise<SearchIndex | null> {
    if (index.updates < head.lf || head.n - index.patients > MOST_ROWS_BEHIND) return null
    // Another request of the same moment may have read a later head and brought it further.
    if (index.patients >= head.n && index.updates >= head.u) return index
    const delta = await readLinesSince(table, clinic, index, head)
    if (!delta) return null
    index.advance(delta, Math.max(head.n, index.patients), Math.max(head.u, index.updates))
    return index
  }

  /** A fresh index: segments, and what came after them, read side by side. */
  async function loaded(clinic: ClinicId, head: PatientHead): Promise<SearchIndex> {
    const [segments, delta] = await Promise.all([
      Promise.all(head.sv.map((version, index) => readSegment(table, clinic, index, version))),
      readLinesSince(table, clinic, { patients: head.sn, updates: head.su }, head),
    ])
    const read = segments.flatMap((found) => (found ? [found.segment] : []))
    // A snapshot taken between our reads has moved the log on: the next head knows.
    if (!delta || read.length < segments.length) return loaded(clinic, await readPatientHead(table, clinic))
    const index = new SearchIndex(read, head.sn, head.su)
    index.advance(delta, head.n, head.u)
    return index
  }

  function keep(clinic: ClinicId, index: SearchIndex): void {
    indexes.set(clinic, index)
    let held = [...indexes.values()].reduce((sum, { size }) => sum + size, 0)
    for (const [oldest, { size }] of indexes) {
      if (held <= memoryBudget || oldest === clinic) break
      indexes.delete(oldest)
      held -= size
    }
  }

  return { search }
}
