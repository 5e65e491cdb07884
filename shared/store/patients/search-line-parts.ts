import type { ClinicId } from '../../domain/clinic.ts'
import { SEGMENT_SIZE } from '../../domain/search-index.ts'
import type { Table } from '../table/table.ts'
import { readPatientHead } from './head.ts'
import { readLinesSince } from './search-lines.ts'
import { readSegment } from './segments.ts'

/** Reads of all lines, if snapshots go on overtaking them. */
const MAX_ATTEMPTS = 5

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
    for (const [index, version] of head.sv.entries()) {
      const lines = (await readSegment(table, clinic, index, version))?.segment.lines() ?? []
      yield new Map(lines.map((line, at) => [index * SEGMENT_SIZE + at, line]))
    }
    const since = await readLinesSince(table, clinic, { patients: head.sn, updates: head.su }, head)
    // A snapshot has moved lines from the log to the segments meanwhile.
    if (!since) continue
    yield since
    return
  }
}
