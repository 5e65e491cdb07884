/** Search segments as stored: the compressed lines of {@link SEGMENT_SIZE} ordinals, in as many items as they need. */
import type { ClinicId } from '../../domain/clinic.ts'
import { SearchSegment } from '../../domain/patients/search-index.ts'
import { patientSegmentKey, patientSegmentPartition } from '../keys/patients.ts'
import type { Table } from '../table/table.ts'
import type { Item, Write } from '../table/write-requests.ts'

/** Loaded by its first use: most requests to functions that load this file use none. */
const zlib = () => process.getBuiltinModule('node:zlib')

/** DynamoDB's items end at 400 KB. A segment of ordinary lines has 150 KB, one part. */
const MAX_PART_BYTES = 350_000
const MAX_PARTS = 11

type Part = Item & { data: Uint8Array; version: number; parts: number; state: number }

/** A segment as stored; `state` counts the creations and updates there were when it was written. */
export type StoredSegment = {
  readonly segment: SearchSegment
  readonly version: number
  readonly state: number
  /** The number of its items, including those that are empty because it shrank. */
  readonly items: number
}

/** A segment of at least `version`, or null when it was not there yet. Eventual reads cost half and may be early. */
export async function readSegment(
  table: Table,
  clinic: ClinicId,
  index: number,
  version: number,
): Promise<StoredSegment | null> {
  const stored =
    (await readItems(table, clinic, index, version, true)) ??
    (await readItems(table, clinic, index, version, false))
  const [first] = stored ?? []
  if (!stored || !first) return null
  const parts = stored.slice(0, first.parts)
  const text = zlib()
    .zstdDecompressSync(Buffer.concat(parts.map(({ data }) => data)))
    .toString()
  return {
    segment: SearchSegment.parse(text),
    version: first.version,
    state: first.state,
    items: stored.length,
  }
}

/** The items, if the parts are complete, have one version, and are not too old. */
async function readItems(table: Table, clinic: ClinicId, index: number, version: number, eventual: boolean) {
  const pk = patientSegmentPartition(clinic, index)
  const stored = (await table.query({ pk, limit: MAX_PARTS, eventual })) as Part[]
  const [first] = stored
  if (!first || first.version < version || stored.length < first.parts) return null
  return stored.slice(0, first.parts).every((part) => part.version === first.version) ? stored : null
}

/**
 * The writes that replace `previous` by a segment, for one transaction. If the segment needs fewer items, the others are
 * emptied: they hold text of patients who may have been erased since.
 */
export function segmentWrites(
  table: Table,
  clinic: ClinicId,
  index: number,
  segment: SearchSegment,
  state: number,
  previous: StoredSegment | null,
): Write[] {
  const bytes = zlib().zstdCompressSync(segment.lines().join('\n'))
  const parts = Math.max(1, Math.ceil(bytes.length / MAX_PART_BYTES))
  if (parts > MAX_PARTS) throw new RangeError('a search segment is larger than a transaction')
  return Array.from({ length: Math.max(parts, previous?.items ?? 0) }, (_, part) =>
    table.updateWrite(patientSegmentKey(clinic, index, part), {
      UpdateExpression: 'SET #data = :data, version = :version, parts = :parts, #state = :state',
      // The first part guards them all: concurrent snapshots cannot undo each other.
      ...(part === 0 && {
        ConditionExpression: previous === null ? 'attribute_not_exists(pk)' : 'version = :replaces',
      }),
      ExpressionAttributeNames: { '#data': 'data', '#state': 'state' },
      ExpressionAttributeValues: {
        ':data': bytes.subarray(part * MAX_PART_BYTES, (part + 1) * MAX_PART_BYTES),
        ':version': (previous?.version ?? 0) + 1,
        ':parts': parts,
        ':state': state,
        ...(part === 0 && previous !== null && { ':replaces': previous.version }),
      },
    }),
  )
}
