import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { SEGMENT_SIZE, SearchSegment } from '../../../shared/domain/search-index.ts'
import { sortableNumber } from '../../../shared/store/keys/key.ts'
import {
  patientHeadKey,
  patientListPartition,
  patientSegmentPartition,
} from '../../../shared/store/keys/patients.ts'
import { readPatientHead } from '../../../shared/store/patients/head.ts'
import { patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { toPatient } from '../../../shared/store/patients/patients.ts'
import { patientSearchLine } from '../../../shared/store/patients/search-lines.ts'
import { segmentWrites } from '../../../shared/store/patients/segments.ts'
import { ConditionFailed, type Item, type Table } from '../../../shared/store/table/table.ts'
import { partitionPages } from './partition-pages.ts'

/** A place that nothing can be found by. */
const EMPTY_LINE = '\t\t'

/** More items than a segment has. */
const MAX_PARTS = 100

/** Snapshots of others that may come first. */
const MAX_ATTEMPTS = 20

/**
 * Writes search segments anew from the list's rows, and their versions into the head; all of them, as if a snapshot
 * had just been taken, or some, which then may know more than the head says: what the log repeats changes nothing.
 * @throws ConditionFailed when a snapshot was taken meanwhile
 */
export async function rewriteSegments(
  table: Table,
  clinic: ClinicId,
  which: 'all' | readonly number[],
): Promise<void> {
  const head = await readPatientHead(table, clinic)
  const needed = Math.ceil(head.n / SEGMENT_SIZE)
  const indexes = which === 'all' ? Array.from({ length: needed }, (_, index) => index) : which
  const versions = which === 'all' ? [] : [...head.sv]
  for (const index of indexes) versions[index] = await rewriteSegment(table, clinic, index)
  await table.transact([
    table.updateWrite(patientHeadKey(clinic), {
      UpdateExpression: `SET sv = :sv, v = :next${which === 'all' ? ', sn = :n, su = :u, lf = :u' : ''}`,
      ConditionExpression: 'v = :read',
      ExpressionAttributeValues: {
        ':sv': versions,
        ':read': head.v,
        ':next': head.v + 1,
        ...(which === 'all' && { ':n': head.n, ':u': head.u }),
      },
    }),
  ])
}

/** The version that it then has. Segment, head, rows are read in this order, so that nothing of the old one is lost. */
async function rewriteSegment(table: Table, clinic: ClinicId, index: number): Promise<number> {
  const stored = await table.query({ pk: patientSegmentPartition(clinic, index), limit: MAX_PARTS })
  const version = stored[0]?.version
  const known = typeof version === 'number'
  const { n, u } = await readPatientHead(table, clinic)
  const segment = new SearchSegment(await readLines(table, clinic, index, n))
  // Without a version there is no condition to hold it to, and nothing in it that could be read.
  if (!known) await table.deleteMany(stored)
  const replaced = known ? { segment, version, state: 0 } : null
  await table.transact(segmentWrites(table, clinic, index, segment, n + u, replaced))
  return (replaced?.version ?? 0) + 1
}

async function readLines(table: Table, clinic: ClinicId, index: number, n: number): Promise<string[]> {
  const first = index * SEGMENT_SIZE
  const lines = Array.from({ length: Math.max(0, Math.min(SEGMENT_SIZE, n - first)) }, () => EMPTY_LINE)
  if (lines.length === 0) return lines
  const bounds = { from: sortableNumber(first), to: sortableNumber(first + lines.length - 1) }
  for await (const rows of partitionPages(table, patientListPartition(clinic), bounds)) {
    for (const row of rows) lines[Number(row.sk) - first] = searchLineOf(row) ?? EMPTY_LINE
  }
  return lines
}

/** The search line of a patient's record or row; null when it cannot be read. */
export function searchLineOf(item: Item): string | null {
  try {
    return patientSearchLine(toPatient(item))
  } catch {
    return null
  }
}

/**
 * Makes functions load again what they have in memory of the segments as they were: with an update that was none, in
 * the segments already, and further than any index can be.
 */
export async function invalidateIndexes(table: Table, clinic: ClinicId): Promise<void> {
  const writer = patientWriter({ table })
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const { u, su, v } = await readPatientHead(table, clinic)
    try {
      if (su !== u) await writer.snapshot(clinic)
      else {
        await table.update(patientHeadKey(clinic), {
          UpdateExpression: 'SET u = :next, su = :next, lf = :next, v = :snapshot',
          ConditionExpression: 'u = :u AND su = :u AND v = :v',
          ExpressionAttributeValues: { ':next': u + 1, ':snapshot': v + 1, ':u': u, ':v': v },
        })
        return
      }
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
    }
  }
}
