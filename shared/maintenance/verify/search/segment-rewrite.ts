import type { ClinicId } from '../../../domain/clinic.ts'
import { SEGMENT_SIZE, SearchSegment } from '../../../domain/patients/search-index.ts'
import { sortableNumber } from '../../../store/keys/key.ts'
import {
  patientHeadKey,
  patientListPartition,
  patientSegmentPartition,
} from '../../../store/keys/patients.ts'
import { readPatientHead } from '../../../store/patients/head.ts'
import { patientWriter } from '../../../store/patients/patient-writer.ts'
import { toPatient } from '../../../store/patients/patients.ts'
import { patientSearchLine } from '../../../store/patients/search-lines.ts'
import { segmentWrites } from '../../../store/patients/segments.ts'
import { ConditionFailed } from '../../../store/table/errors.ts'
import type { Table } from '../../../store/table/table.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { partitionPages } from '../../walk/partition-pages.ts'

/** The search line of a position without a patient: no search matches it. */
const EMPTY_LINE = '\t\t'

/** Greater than the number of items in a segment. */
const MAX_PARTS = 100

/** Attempts when other snapshots come first. */
const MAX_ATTEMPTS = 20

/**
 * Rewrites all search segments from the list's rows, and their versions in the head, like a snapshot.
 * @throws ConditionFailed if a snapshot was taken in the meantime
 */
export async function rewriteSegments(table: Table, clinic: ClinicId): Promise<void> {
  const head = await readPatientHead(table, clinic)
  const versions: number[] = []
  for (let index = 0; index * SEGMENT_SIZE < head.n; index++)
    versions.push(await rewriteSegment(table, clinic, index))
  await table.transact([
    table.updateWrite(patientHeadKey(clinic), {
      UpdateExpression: 'SET sv = :sv, sn = :n, su = :u, lf = :u, v = :next',
      ConditionExpression: 'v = :read',
      ExpressionAttributeValues: {
        ':sv': versions,
        ':n': head.n,
        ':u': head.u,
        ':read': head.v,
        ':next': head.v + 1,
      },
    }),
  ])
}

/** Returns the new version. Reads segment, head and rows in this order, so that no newer data is lost. */
async function rewriteSegment(table: Table, clinic: ClinicId, index: number): Promise<number> {
  const stored = await table.query({ pk: patientSegmentPartition(clinic, index), limit: MAX_PARTS })
  const version = stored[0]?.version
  const known = typeof version === 'number'
  const { n, u } = await readPatientHead(table, clinic)
  const segment = new SearchSegment(await readLines(table, clinic, index, n))
  // An item without a version cannot be conditional, and has nothing to read.
  if (!known) await table.deleteMany(stored)
  const replaced = known ? { segment, version, state: 0, items: stored.length } : null
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

/** The search line of a patient's record or row; null if it is unreadable. */
export function searchLineOf(item: Item): string | null {
  try {
    return patientSearchLine(toPatient(item))
  } catch {
    return null
  }
}

/**
 * Makes functions reload the segments that they have in memory, by an empty update that counts as part of the segments
 * and is newer than any index in memory.
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
