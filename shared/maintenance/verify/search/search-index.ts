import { SEGMENT_SIZE } from '../../../domain/patients/search-index.ts'
import { type Key, MAX_SORTABLE_NUMBER, sortableNumber } from '../../../store/keys/key.ts'
import {
  patientChangeKey,
  patientChangesPartition,
  patientHeadKey,
  patientKey,
  patientListPartition,
  patientRowKey,
  patientSegmentKey,
} from '../../../store/keys/patients.ts'
import { type PatientHead, readPatientHead } from '../../../store/patients/head.ts'
import { readSegment } from '../../../store/patients/segments.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { Finding, Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { isOrdinal } from '../comparison/patient-image.ts'
import { rewriteSegments, searchLineOf } from './segment-rewrite.ts'

/**
 * Verifies the search index, as a function sees it that loads it now or has it in memory: its head, its segments, and the log of the
 * updates that they lack.
 */
export async function checkSearchIndex({ table, clinic, count, examine }: Inspection): Promise<void> {
  // Outdated lines are expected if the head or the log is wrong.
  if ((await examine(recheckIndex)).length > 0) return
  const listed = await listedPatients()
  for (let index = 0; ; index++) {
    const read = await readIndex(index)
    const first = index * SEGMENT_SIZE
    const { n, sn } = read.head
    const end = Math.min(first + SEGMENT_SIZE, Math.max(sn, Math.min(n, listed)))
    // Not a number if the head is unreadable.
    if (!(first < end)) break
    const suspects: number[] = []
    const bounds = { from: sortableNumber(first), to: sortableNumber(end - 1) }
    for await (const rows of partitionPages(table, patientListPartition(clinic), bounds)) {
      count('search_lines', rows.length)
      suspects.push(...rows.filter((row) => read.isWrong(Number(row.sk), row)).map(({ sk }) => Number(sk)))
    }
    if (suspects.length > 0 || (await isSegmentInvalid(index, read))) await examine(recheck(index, suspects))
  }

  /** The entries of the change log after this update. A snapshot is taken long before there are many. */
  async function readLog(after: number): Promise<Item[]> {
    const entries: Item[] = []
    const bounds = { from: sortableNumber(after + 1) }
    for await (const page of partitionPages(table, patientChangesPartition(clinic), bounds))
      entries.push(...page)
    return entries
  }

  /** Whether the head is consistent with the segments, and the log has every update that they lack. */
  async function recheckIndex(): Promise<Finding | 'moving' | null> {
    const head = await readPatientHead(table, clinic)
    const log = await readLog(head.su)
    const listed = Math.max(head.n, await listedPatients())
    const pending = log.filter(({ sk }) => Number(sk) <= head.u)
    const rows = await table.getMany(
      [...new Set(pending.map(({ o }) => o).filter(isOrdinal))].map((o) => patientRowKey(clinic, o)),
    )
    const known = new Set(rows.map(({ sk }) => Number(sk)))
    const again = await readPatientHead(table, clinic)
    if (head.v !== again.v) return 'moving'
    if (!isHeadValid(head, listed))
      return finding(patientHeadKey(clinic), 'the head contradicts its segments')
    const unmatched = pending.filter(
      ({ o, line }) => typeof line !== 'string' || !isOrdinal(o) || (o >= again.n && !known.has(o)),
    )
    const missing = head.u - head.su - pending.length
    if (missing === 0 && unmatched.length === 0) return null
    const note = `${missing} updates are missing from the log, ${unmatched.length} have no patient`
    return finding(patientChangeKey(clinic, head.su + 1), note)
  }

  async function listedPatients(): Promise<number> {
    const pk = patientListPartition(clinic)
    const to = sortableNumber(MAX_SORTABLE_NUMBER)
    const [last] = await table.query({ pk, to, descending: true, limit: 1 })
    return last ? Number(last.sk) + 1 : 0
  }

  function finding(key: Key, note: string): Finding {
    const repair = () => rewriteSegments(table, clinic)
    return { differences: [{ kind: 'search_index_wrong', key, note }], repair }
  }

  /** Reads the head first: it has the minimum version of the segment. */
  async function readIndex(index: number) {
    const head = await readPatientHead(table, clinic)
    const [log, stored] = await Promise.all([
      readLog(head.lf),
      readSegment(table, clinic, index, head.sv[index] ?? 0).catch(() => null),
    ])
    const lines = stored?.segment.lines() ?? []
    const entries = new Map(log.map((entry) => [entry.o, entry]))
    /** Whether the log or the segment has another line than this record or row. What cannot be read was reported before. */
    const isWrong = (ordinal: number, item: Item): boolean => {
      const line = searchLineOf(item)
      const entry = entries.get(ordinal)
      if (line === null) return false
      if (entry && entry.line !== line) return true
      const isInSegment = ordinal < head.sn && !(entry && Number(entry.sk) > head.su)
      return isInSegment && lines[ordinal - index * SEGMENT_SIZE] !== line
    }
    return { head, stored, lines, isWrong }
  }

  /** Whether the segment is unreadable, extends past the last patient, or is newer than the head, so that no snapshot would rewrite it. */
  async function isSegmentInvalid(
    index: number,
    { head, stored, lines }: Awaited<ReturnType<typeof readIndex>>,
  ): Promise<boolean> {
    if (index * SEGMENT_SIZE >= head.sn) return false
    if (!stored || !(stored.version >= (head.sv[index] ?? 0))) return true
    const { n, u } = await readPatientHead(table, clinic)
    const last = index * SEGMENT_SIZE + lines.length - 1
    if (lines.length > 0 && last >= n && !(await table.get(patientRowKey(clinic, last)))) return true
    return !(stored.state <= n + u)
  }

  function recheck(index: number, suspects: readonly number[]): Recheck {
    return async () => {
      const rows = await table.getMany(suspects.map((ordinal) => patientRowKey(clinic, ordinal)))
      const keys = rows.flatMap(({ i }) => (typeof i === 'string' && i !== '' ? [patientKey(clinic, i)] : []))
      const records = await table.getMany(keys)
      const read = await readIndex(index)
      const again = new Map((await table.getMany(keys)).map((item) => [item.sk, item]))
      const { v } = await readPatientHead(table, clinic)
      const moved = records.filter((item) => again.get(item.sk)?.v !== item.v)
      const wrong = records.filter((item) => !moved.includes(item) && read.isWrong(item.o as number, item))
      const isInvalid = await isSegmentInvalid(index, read)
      if (wrong.length === 0 && !isInvalid) return moved.length > 0 ? 'moving' : null
      if (isInvalid && v !== read.head.v) return 'moving'
      const note = isInvalid ? 'a segment is missing, truncated or of another list' : `${wrong.length} lines`
      return finding(patientSegmentKey(clinic, index, 0), note)
    }
  }
}

/** Whether the head claims no more patients than are listed, no more updates than it counts, and has a version for each segment. */
const isHeadValid = ({ sn, u, su, lf, sv }: PatientHead, listed: number): boolean =>
  [sn, su, lf].every((counter) => Number.isInteger(counter) && counter >= 0) &&
  sn <= listed &&
  su <= u &&
  lf <= su &&
  Array.isArray(sv) &&
  sv.length >= Math.ceil(sn / SEGMENT_SIZE) &&
  sv.length <= Math.ceil(listed / SEGMENT_SIZE) &&
  sv.every(Number.isInteger)
