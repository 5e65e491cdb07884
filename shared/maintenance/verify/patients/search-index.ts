/**
 * Verifies the search index, as a function has it that loads it now, or that has it in memory and reads the log of updates. A repair
 * writes the whole index.
 */
import type { ClinicId } from '../../../domain/clinic.ts'
import { SEGMENT_SIZE, SearchSegment } from '../../../domain/patients/search-index.ts'
import { FOLDED } from '../../../domain/patients/search-text.ts'
import { isUuid } from '../../../domain/uuid.ts'
import { sortableNumber } from '../../../store/keys/key.ts'
import {
  patientHeadKey,
  patientKey,
  patientListPartition,
  patientSegmentPartition,
} from '../../../store/keys/patients.ts'
import { headWrite, type PatientHead, readPatientHead } from '../../../store/patients/head.ts'
import { patientWriter } from '../../../store/patients/patient-writer.ts'
import { toPatient } from '../../../store/patients/patients.ts'
import { patientSearchLine, readLinesSince } from '../../../store/patients/search-lines.ts'
import { readSegment, segmentWrites } from '../../../store/patients/segments.ts'
import { chunked } from '../../../store/table/chunked.ts'
import { ConditionFailed } from '../../../store/table/errors.ts'
import type { Table } from '../../../store/table/table.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import { isOrdinal } from '../comparison/patient-image.ts'
import { readable } from '../comparison/readable.ts'
import type { Snapshot } from '../comparison/snapshot.ts'

/** Patients that are examined at a time. */
const MAX_SUSPECTS = 100

/** The search line of a position without a patient: no search matches it. */
const EMPTY_LINE = `\t\t${FOLDED}`

/** Greater than the number of items in a segment. */
const MAX_PARTS = 100

/** Attempts when other snapshots come first. */
const MAX_ATTEMPTS = 20

/** Compares the index with the rows of patients, which match their records. */
export async function checkSearchIndex({
  table,
  clinic,
  count,
  examine,
  repairs,
}: Inspection): Promise<void> {
  const before = repairs()
  const { isSound, isWrong } = await loadIndex(table, clinic)
  const suspects: string[] = []
  for await (const rows of partitionPages(table, patientListPartition(clinic))) {
    count('search_lines', rows.length)
    suspects.push(...rows.filter((row) => isWrong(Number(row.sk), row)).map(({ i }) => String(i)))
  }
  for (const some of isSound ? chunked(suspects, MAX_SUSPECTS) : [[]]) {
    const left = await examine((read) => recheck(some, read))
    if (left.length > 0 || repairs() > before) return
  }

  /** Reads the patients before the index: it has what is in their records, if they do not change. */
  async function recheck(ids: readonly string[], read: Snapshot): Promise<Finding | 'moving' | null> {
    const records = await read.getMany(ids.filter(isUuid).map((id) => patientKey(clinic, id)))
    const { head, isSound, isWrong } = await loadIndex(table, clinic)
    const wrong = records.filter((record) => isWrong(Number(record.o), record))
    if (isSound && wrong.length === 0) return null
    if ((await readPatientHead(table, clinic)).snapshots !== head.snapshots) return 'moving'
    const note = isSound
      ? `${wrong.length} lines`
      : 'the head, its segments and the log contradict one another'
    return findingOf('search_index_wrong', patientHeadKey(clinic), () => rewriteSegments(table, clinic), note)
  }
}

/** Loads the index like a function. */
async function loadIndex(table: Table, clinic: ClinicId) {
  const head = await readPatientHead(table, clinic)
  const lines: string[] = []
  const states: number[] = []
  for (const [index, version] of head.segmentVersions.entries()) {
    const stored = await readSegment(table, clinic, index, version).catch(() => null)
    const isCurrent = Number.isInteger(stored?.version) && Number(stored?.version) >= version
    states.push(stored && isCurrent ? stored.state : Number.NaN)
    for (const [at, line] of stored?.segment.lines().entries() ?? []) lines[index * SEGMENT_SIZE + at] = line
  }
  // Functions that have an index in memory read the log from here on.
  const since = { patients: head.indexedPatients, updates: head.deletedUpdates }
  const later = await readLinesSince(table, clinic, since, head).catch(() => null)
  for (const [ordinal, line] of later ?? []) lines[ordinal] = line
  const { patients, updates } = await readPatientHead(table, clinic)
  const areOrdinals = [...(later?.keys() ?? [])].every(isOrdinal)
  // A segment that claims to be newer than the head would not be rewritten by any snapshot.
  const isSound =
    isHeadValid(head) &&
    later !== null &&
    areOrdinals &&
    lines.length <= patients &&
    states.every((state) => state <= patients + updates)
  /** Whether the index has another line than a row or record. What cannot be read was reported before. */
  const isWrong = (ordinal: number, item: Item): boolean => {
    const line = searchLineOf(item)
    return line !== null && ordinal < head.patients && lines[ordinal] !== line
  }
  return { head, isSound, isWrong }
}

/** Whether the head claims no more patients and updates than it counts, and has a version for each segment. */
const isHeadValid = (head: PatientHead): boolean =>
  head.indexedPatients <= head.patients &&
  head.indexedUpdates <= head.updates &&
  head.deletedUpdates <= head.indexedUpdates &&
  head.segmentVersions.length >= Math.ceil(head.indexedPatients / SEGMENT_SIZE) &&
  head.segmentVersions.length <= Math.ceil(head.patients / SEGMENT_SIZE)

/**
 * Rewrites all search segments from the list's rows, and their versions in the head, like a snapshot.
 * @throws ConditionFailed if a snapshot was taken in the meantime
 */
export async function rewriteSegments(table: Table, clinic: ClinicId): Promise<void> {
  const head = await readPatientHead(table, clinic)
  const versions: number[] = []
  for (let index = 0; index * SEGMENT_SIZE < head.patients; index++)
    versions.push(await rewriteSegment(table, clinic, index))
  await table.transact([
    headWrite(
      table,
      clinic,
      {
        segmentVersions: versions,
        indexedPatients: head.patients,
        indexedUpdates: head.updates,
        deletedUpdates: head.updates,
        snapshots: head.snapshots + 1,
      },
      { snapshots: head.snapshots },
    ),
  ])
}

/** Returns the new version. Reads segment, head and rows in this order, so that no newer data is lost. */
async function rewriteSegment(table: Table, clinic: ClinicId, index: number): Promise<number> {
  const stored = await table.query({ pk: patientSegmentPartition(clinic, index), limit: MAX_PARTS })
  const version = stored[0]?.version
  const known = typeof version === 'number'
  const { patients, updates } = await readPatientHead(table, clinic)
  const segment = new SearchSegment(await readLines(table, clinic, index, patients))
  // An item without a version cannot be conditional, and has nothing to read.
  if (!known) await table.deleteMany(stored)
  const replaced = known ? { segment, version, state: 0, items: stored.length } : null
  await table.transact(segmentWrites(table, clinic, index, segment, patients + updates, replaced))
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
export const searchLineOf = (item: Item): string | null => readable(() => patientSearchLine(toPatient(item)))

/**
 * Makes functions reload the segments that they have in memory, by an empty update that counts as part of the segments
 * and is newer than any index in memory.
 */
export async function invalidateIndexes(table: Table, clinic: ClinicId): Promise<void> {
  const writer = patientWriter({ table })
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const { updates, indexedUpdates, snapshots } = await readPatientHead(table, clinic)
    try {
      if (indexedUpdates !== updates) await writer.snapshot(clinic)
      else {
        const next = updates + 1
        await table.transact([
          headWrite(
            table,
            clinic,
            { updates: next, indexedUpdates: next, deletedUpdates: next, snapshots: snapshots + 1 },
            { updates, indexedUpdates, snapshots },
          ),
        ])
        return
      }
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
    }
  }
}
