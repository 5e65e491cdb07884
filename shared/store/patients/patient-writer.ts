/** Writes patients: entering new ones, updating those there are, and taking the snapshots that search reads. */
import type { ClinicId } from '../../domain/clinic.ts'
import { patientEventDraft } from '../../domain/event.ts'
import { fullName, type Patient } from '../../domain/patient.ts'
import { SEGMENT_SIZE, SearchSegment } from '../../domain/search-index.ts'
import type { StoredResponse } from '../../domain/stored-response.ts'
import { UnavailableError } from '../../domain/unavailable.ts'
import { patientOwner } from '../keys/copies.ts'
import { sortableNumber } from '../keys/key.ts'
import {
  patientChangeKey,
  patientChangesPartition,
  patientHeadKey,
  patientKey,
  patientRowKey,
} from '../keys/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { IdempotencyGuard } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retry-on-conflict.ts'
import { ConditionFailed, type Table, type Write } from '../table/table.ts'
import { type PatientHead, readPatientHead } from './head.ts'
import { recordItem, rowItem, type StoredPatient } from './patients.ts'
import { patientSearchLine, readLinesSince } from './search-lines.ts'
import { readSegment, segmentWrites } from './segments.ts'

/** Three items each and the head: the most new patients in one transaction. */
export const MAX_CREATED = 32
/** Five items each and the head. */
export const MAX_UPDATED = 19

/** A patient as it was read, and as it is to be. */
export type PatientChange = { readonly before: StoredPatient; readonly after: StoredPatient }

/** Patients entered since the last snapshot before the tail segment is written anew. */
const SNAPSHOT_EVERY = 512
/** Updates before a snapshot: more in a large clinic, since it may write every segment anew. */
const updatesBeforeSnapshot = (patients: number): number => Math.max(64, Math.floor(patients / 128))

/** Each lost attempt is another writer's success; so many in a row mean a clinic too busy to wait for. */
const MAX_ATTEMPTS = 20

export function patientWriter({ table }: { table: Table }) {
  /** The head as this writer left it, so that a run of entries by one writer reads it once. */
  const heads = new Map<ClinicId, PatientHead>()

  /**
   * Enters new patients, in order, all or none. At most {@link MAX_CREATED}.
   * @throws ConditionFailed when one of the ids exists
   */
  async function createMany(
    clinic: ClinicId,
    patients: readonly Patient[],
    extraWrites: readonly Write[] = [],
  ): Promise<void> {
    await withHead(clinic, (head) => {
      const changeset = new Changeset(table, clinic)
      for (const [index, patient] of patients.entries()) addCreation(changeset, patient, head.n + index)
      return {
        writes: [...extraWrites, ...changeset.writes()],
        next: { ...head, n: head.n + patients.length },
      }
    })
  }

  function addCreation(changeset: Changeset, patient: Patient, ordinal: number): void {
    const { clinic } = changeset
    const eventDraft = changeset.emitsEvents ? patientEventDraft(null, patient) : null
    const events = eventDraft ? 1 : 0
    if (eventDraft) changeset.announce(patient.id, events, eventDraft)
    const stored = { ...patient, ordinal, version: 1, events, erased: false }
    changeset.put(recordItem(patientKey(clinic, patient.id), stored), 'new')
    changeset.put(rowItem(patientRowKey(clinic, ordinal), patient), 'new')
  }

  /** Enters one patient with the answer to keep; the kept answer when the same request came before. */
  async function create(
    clinic: ClinicId,
    patient: Patient,
    idempotency: IdempotencyGuard,
    status: number,
    response: object,
  ): Promise<StoredResponse | null> {
    return retryOnConflict(async () => {
      const storedResponse = await idempotency.find()
      if (storedResponse) return storedResponse
      const responseChanges = new Changeset(table, clinic)
      idempotency.store(responseChanges, status, response, patient.id)
      // Not as this writer left the head: another function may have moved it since.
      heads.delete(clinic)
      await createMany(clinic, [patient], responseChanges.writes())
      // Search has the patient already; a snapshot only makes it cheaper, and may wait for the next entry.
      await snapshotIfDue(clinic).catch(() => undefined)
      return null
    })
  }

  /**
   * Changes patients that were read, all or none. A new name or address is owed to the rows that copy it (fan-out.ts).
   * At most {@link MAX_UPDATED}.
   * @throws ConditionFailed when one was changed since it was read
   */
  async function update(clinic: ClinicId, changes: readonly PatientChange[]): Promise<void> {
    await withHead(clinic, (head) => {
      const changeset = new Changeset(table, clinic)
      for (const [index, change] of changes.entries()) addUpdate(changeset, change, head.u + index + 1)
      return { writes: changeset.writes(), next: { ...head, u: head.u + changes.length } }
    })
  }

  function addUpdate(changeset: Changeset, { before, after }: PatientChange, updateNumber: number): void {
    const { clinic } = changeset
    const eventDraft = changeset.emitsEvents ? patientEventDraft(before, after) : null
    const events = before.events + (eventDraft ? 1 : 0)
    if (eventDraft) changeset.announce(after.id, events, eventDraft)
    const record = recordItem(patientKey(clinic, after.id), { ...after, version: before.version + 1, events })
    changeset.put(record, { version: before.version })
    changeset.put(rowItem(patientRowKey(clinic, after.ordinal), after))
    changeset.put({
      ...patientChangeKey(clinic, updateNumber),
      o: after.ordinal,
      line: patientSearchLine(after),
    })
    const copied = ({ emailAddress, erased, ...patient }: StoredPatient) =>
      `${fullName(patient)}\n${emailAddress}\n${erased}`
    if (copied(before) !== copied(after)) changeset.markStale(patientOwner(after.id))
  }

  /** Runs writes that move the head's counters, again with a fresh head whenever another writer was first. */
  async function withHead(
    clinic: ClinicId,
    plan: (head: PatientHead) => { writes: Write[]; next: PatientHead },
  ): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const head = heads.get(clinic) ?? (await readPatientHead(table, clinic))
      const { writes, next } = plan(head)
      const headUpdate = table.updateWrite(patientHeadKey(clinic), {
        UpdateExpression: 'SET n = :nextN, u = :nextU',
        ConditionExpression: 'n = :n AND u = :u',
        ExpressionAttributeValues: { ':n': head.n, ':u': head.u, ':nextN': next.n, ':nextU': next.u },
      })
      try {
        await table.transact([...writes, headUpdate])
        heads.set(clinic, next)
        return
      } catch (error) {
        heads.delete(clinic)
        const headMoved =
          error instanceof ConditionFailed && error.failedIndexes.every((index) => index === writes.length)
        if (!headMoved) throw error
        if (attempt === MAX_ATTEMPTS) throw new UnavailableError(error)
      }
    }
  }

  /** Takes a snapshot if enough has changed since the last one. */
  async function snapshotIfDue(clinic: ClinicId): Promise<void> {
    const head = heads.get(clinic) ?? (await readPatientHead(table, clinic))
    const due = head.n - head.sn >= SNAPSHOT_EVERY || head.u - head.su >= updatesBeforeSnapshot(head.n)
    if (due) await snapshot(clinic)
  }

  /** Sees to it that the segments have everything that is there now. Another snapshot at a time may win the turn. */
  async function snapshotAll(clinic: ClinicId): Promise<void> {
    const { n, u } = await readPatientHead(table, clinic)
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const head = await readPatientHead(table, clinic)
      if (head.sn >= n && head.su >= u) return
      await snapshot(clinic)
    }
    throw new UnavailableError('the search segments are written by others all the time')
  }

  /** Folds all that was entered and updated since the last snapshot into the search segments. */
  async function snapshot(clinic: ClinicId): Promise<void> {
    const head = await readPatientHead(table, clinic)
    const changes = await readLinesSince(table, clinic, { patients: head.sn, updates: head.su }, head)
    // Somebody else's snapshot has moved the log on meanwhile, and has done the work.
    if (!changes) return
    const versions = [...head.sv]
    const state = head.n + head.u
    const touched = Map.groupBy(changes, ([ordinal]) => Math.floor(ordinal / SEGMENT_SIZE))
    for (const [index, lines] of touched) {
      const stored = await readSegment(table, clinic, index, versions[index] ?? 0)
      // A later snapshot has written it already: our older lines must not undo its newer ones.
      if (stored && stored.state > state) return
      const segment = stored?.segment ?? new SearchSegment()
      segment.patch(new Map(lines.map(([ordinal, line]) => [ordinal % SEGMENT_SIZE, line])))
      const writes = segmentWrites(table, clinic, index, segment, state, stored)
      if (!(await commitsFirst(table.transact(writes)))) return
      versions[index] = (stored?.version ?? 0) + 1
    }
    const headUpdate = table.transact([
      table.updateWrite(patientHeadKey(clinic), {
        UpdateExpression: 'SET sn = :sn, su = :su, sv = :sv, v = :next, lf = :lf',
        ConditionExpression: 'v = :v',
        ExpressionAttributeValues: {
          ':sn': head.n,
          ':su': head.u,
          ':sv': versions,
          ':v': head.v,
          ':next': head.v + 1,
          ':lf': head.su,
        },
      }),
    ])
    if (await commitsFirst(headUpdate)) await deleteLogEntries(clinic, head.su)
    heads.delete(clinic)
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

  return { createMany, create, update, snapshot, snapshotIfDue, snapshotAll }
}

/** False when another snapshot, taken at the same time, came first; its result stands. */
async function commitsFirst(write: Promise<void>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionFailed) return false
    throw error
  }
}
