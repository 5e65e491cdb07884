import type { ClinicId } from '../../domain/clinic.ts'
import { fullName, type Patient } from '../../domain/patients/patient.ts'
import { SEGMENT_SIZE } from '../../domain/patients/search-index.ts'
import { FOLDED, searchLine } from '../../domain/patients/search-text.ts'
import { sortableNumber } from '../keys/key.ts'
import { patientChangesPartition, patientListPartition } from '../keys/patients.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import { type PatientHead, readPatientHead } from './head.ts'
import { toPatient } from './patients.ts'
import { readSegment } from './segments.ts'

/** Reads of all lines, if snapshots keep overtaking them. */
const MAX_ATTEMPTS = 5

/** A state of a clinic's patients: the numbers of creations and of updates. */
export type PatientState = { readonly patients: number; readonly updates: number }

/** The state that the segments have. */
export const indexedState = ({ indexedPatients, indexedUpdates }: PatientHead): PatientState => ({
  patients: indexedPatients,
  updates: indexedUpdates,
})

export const patientSearchLine = (patient: Patient): string =>
  searchLine(fullName(patient), patient.phoneNumber, patient.emailAddress) + FOLDED

/**
 * The search lines, by ordinal, of what was created and updated between a state and the head.
 * Null when the change log no longer reaches back so far: counters are dense, so a missing entry shows.
 */
export async function readLinesSince(
  table: Table,
  clinic: ClinicId,
  since: PatientState,
  head: PatientHead,
): Promise<Map<number, string> | null> {
  const [rows, changes] = await Promise.all([
    readSpan(table, patientListPartition(clinic), since.patients, head.patients - 1),
    readSpan(table, patientChangesPartition(clinic), since.updates + 1, head.updates),
  ])
  if (rows.length < head.patients - since.patients || changes.length < head.updates - since.updates)
    return null
  const lines = new Map(rows.map((row) => [Number(row.sk), patientSearchLine(toPatient(row))]))
  for (const change of changes) lines.set(change.o ?? 0, change.line as string)
  return lines
}

async function readSpan(table: Table, pk: string, from: number, to: number): Promise<Item[]> {
  if (from > to) return []
  return table.query({ pk, from: sortableNumber(from), to: sortableNumber(to), limit: to - from + 1 })
}

/**
 * The search lines of a clinic's patients by ordinal, in parts, for a reader that does not keep them all. A line can appear twice: as it
 * was, and then as it is. Lines of a damaged segment are left out.
 */
export async function* searchLineParts(
  table: Table,
  clinic: ClinicId,
): AsyncGenerator<ReadonlyMap<number, string>> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const head = await readPatientHead(table, clinic)
    for (const [index, version] of head.segmentVersions.entries()) {
      const lines = (await readSegment(table, clinic, index, version))?.segment.lines() ?? []
      yield new Map(lines.map((line, at) => [index * SEGMENT_SIZE + at, line]))
    }
    const since = await readLinesSince(table, clinic, indexedState(head), head)
    // A snapshot has moved lines from the log to the segments in between.
    if (!since) continue
    yield since
    return
  }
}
