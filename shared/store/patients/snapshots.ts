/** Folds new and changed patients into the compressed segments that search loads. */
import type { ClinicId } from '../../domain/clinic.ts'
import { SEGMENT_SIZE, SearchSegment } from '../../domain/patients/search-index.ts'
import { sortableNumber } from '../keys/key.ts'
import { patientChangesPartition } from '../keys/patients.ts'
import { ConditionFailed, ifConditionHolds } from '../table/errors.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { headWrite, type PatientHead, readPatientHead } from './head.ts'
import { indexedState, readLinesSince } from './search-lines.ts'
import { readSegment, segmentWrites } from './segments.ts'

/** Patients created since the last snapshot before the last segment is rewritten. */
const SNAPSHOT_EVERY = 512
/** Updates before a snapshot: more in a large clinic, since a snapshot may rewrite every segment. */
const updatesBeforeSnapshot = (patients: number): number => Math.max(64, Math.floor(patients / 128))

export function patientSnapshots({ table }: { table: Table }) {
  /** Takes a snapshot if enough has changed since the last one. */
  async function snapshotIfDue(clinic: ClinicId, known?: PatientHead): Promise<void> {
    const head = known ?? (await readPatientHead(table, clinic))
    const created = head.patients - head.indexedPatients
    const updated = head.updates - head.indexedUpdates
    if (created >= SNAPSHOT_EVERY || updated >= updatesBeforeSnapshot(head.patients)) await snapshot(clinic)
  }

  /** Returns when the segments contain everything that is stored now, even if another process takes the snapshots. */
  async function snapshotAll(clinic: ClinicId): Promise<void> {
    const { patients, updates } = await readPatientHead(table, clinic)
    const isDone = async () => {
      const head = await readPatientHead(table, clinic)
      return head.indexedPatients >= patients && head.indexedUpdates >= updates
    }
    await retryOnConflict(async () => {
      if (await isDone()) return
      await snapshot(clinic)
      if (!(await isDone())) throw new ConditionFailed([])
    })
  }

  /** Folds all that was created and updated since the last snapshot into the search segments. */
  async function snapshot(clinic: ClinicId): Promise<void> {
    const head = await readPatientHead(table, clinic)
    const changes = await readLinesSince(table, clinic, indexedState(head), head)
    // A concurrent snapshot has deleted the log entries, and has already done the work.
    if (!changes) return
    const versions = await writeSegments(clinic, head, changes)
    if (!versions) return
    const headUpdate = table.transact([
      headWrite(
        table,
        clinic,
        {
          indexedPatients: head.patients,
          indexedUpdates: head.updates,
          segmentVersions: versions,
          snapshots: head.snapshots + 1,
          deletedUpdates: head.indexedUpdates,
        },
        { snapshots: head.snapshots },
      ),
    ])
    // If a concurrent snapshot was first, its result is kept.
    if (await ifConditionHolds(headUpdate)) await deleteLogEntries(clinic, head.indexedUpdates)
  }

  /** The versions of all segments after the changed ones were written; null when a concurrent snapshot was faster. */
  async function writeSegments(
    clinic: ClinicId,
    head: PatientHead,
    changes: ReadonlyMap<number, string>,
  ): Promise<number[] | null> {
    const versions = [...head.segmentVersions]
    const state = head.patients + head.updates
    const bySegment = Map.groupBy(changes, ([ordinal]) => Math.floor(ordinal / SEGMENT_SIZE))
    for (const [index, lines] of bySegment) {
      const stored = await readSegment(table, clinic, index, versions[index] ?? 0)
      // A later snapshot has written it already: our older lines must not undo its newer ones.
      if (stored && stored.state > state) return null
      const segment = stored?.segment ?? new SearchSegment()
      segment.patch(new Map(lines.map(([ordinal, line]) => [ordinal % SEGMENT_SIZE, line])))
      const writes = segmentWrites(table, clinic, index, segment, state, stored)
      if (!(await ifConditionHolds(table.transact(writes)))) return null
      versions[index] = (stored?.version ?? 0) + 1
    }
    return versions
  }

  /** Deletes log entries up to `update`: no index that is still advanced needs them. */
  async function deleteLogEntries(clinic: ClinicId, update: number): Promise<void> {
    const old = await table.query({
      pk: patientChangesPartition(clinic),
      to: sortableNumber(update),
      limit: 10_000,
    })
    await table.deleteMany(old)
  }

  return { snapshot, snapshotIfDue, snapshotAll }
}
