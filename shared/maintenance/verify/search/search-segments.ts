import { SEGMENT_SIZE } from '../../../domain/patients/search-index.ts'
import { sortableNumber } from '../../../store/keys/key.ts'
import {
  patientKey,
  patientListPartition,
  patientRowKey,
  patientSegmentKey,
} from '../../../store/keys/patients.ts'
import { type PatientHead, readPatientHead } from '../../../store/patients/head.ts'
import { readSegment, type StoredSegment } from '../../../store/patients/segments.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { readLog } from './search-log.ts'
import { rewriteSegments, searchLineOf } from './segment-rewrite.ts'

/** A segment with the head, and the ordinals that have newer lines in the log. */
type SegmentRead = {
  readonly head: PatientHead
  readonly stored: StoredSegment | null
  readonly lines: readonly string[]
  readonly logged: ReadonlySet<unknown>
}

/**
 * Verifies that the search segments match the patients, as a function sees them that loads them now. If the change log
 * has lost entries, outdated lines are expected, and `lines` are not compared.
 */
export async function checkSearchSegments(
  { table, clinic, count, examine }: Inspection,
  options: { readonly lines: boolean },
): Promise<void> {
  for (let index = 0; ; index++) {
    const read = await readWithHead(index)
    const first = index * SEGMENT_SIZE
    const end = Math.min(first + SEGMENT_SIZE, read.head.sn)
    if (first >= end) break
    const suspects: number[] = []
    const bounds = { from: sortableNumber(first), to: sortableNumber(end - 1) }
    for await (const rows of partitionPages(table, patientListPartition(clinic), bounds)) {
      count('search_lines', rows.length)
      for (const row of rows) {
        const ordinal = Number(row.sk)
        const known = read.logged.has(ordinal) || read.lines[ordinal - first] === searchLineOf(row)
        if (!known && options.lines) suspects.push(ordinal)
      }
    }
    if (suspects.length > 0 || (await isSegmentInvalid(index, read))) await examine(recheck(index, suspects))
  }

  /** Reads the head first: it has the minimum version of the segment. */
  async function readWithHead(index: number): Promise<SegmentRead> {
    const head = await readPatientHead(table, clinic)
    const [log, stored] = await Promise.all([
      readLog(table, clinic, head.su),
      readSegment(table, clinic, index, head.sv[index] ?? 0).catch(() => null),
    ])
    return { head, stored, lines: stored?.segment.lines() ?? [], logged: new Set(log.map(({ o }) => o)) }
  }

  /** Whether the segment is unreadable, extends past the last patient, or is newer than the head, so that no snapshot would rewrite it. */
  async function isSegmentInvalid(index: number, { head, stored, lines }: SegmentRead): Promise<boolean> {
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
      const read = await readWithHead(index)
      const again = new Map((await table.getMany(keys)).map((item) => [item.sk, item]))
      const { v } = await readPatientHead(table, clinic)
      const moved = records.filter((item) => again.get(item.sk)?.v !== item.v)
      const wrong = records.filter((item) => !moved.includes(item) && isLineWrong(index, item, read))
      const isInvalid = await isSegmentInvalid(index, read)
      if (wrong.length === 0 && !isInvalid) return moved.length > 0 ? 'moving' : null
      if (isInvalid && v !== read.head.v) return 'moving'
      return {
        differences: [
          {
            kind: 'search_segment_wrong',
            key: patientSegmentKey(clinic, index, 0),
            note: isInvalid ? 'missing, truncated or not of this list' : `${wrong.length} lines`,
          },
        ],
        repair: () => rewriteSegments(table, clinic, [index]),
      }
    }
  }

  function isLineWrong(index: number, item: Item, { head, lines, logged }: SegmentRead): boolean {
    const ordinal = item.o as number
    if (logged.has(ordinal) || ordinal >= head.sn) return false
    const line = searchLineOf(item)
    return line !== null && lines[ordinal - index * SEGMENT_SIZE] !== line
  }
}
