/** Creates and updates patients. Every write moves the clinic's head, which numbers them. */
import type { ClinicId } from '../../domain/clinic.ts'
import { patientEventDraft } from '../../domain/event.ts'
import { fullName, type Patient } from '../../domain/patient.ts'
import type { Stamped } from '../../domain/stamped.ts'
import { changeIndexKey } from '../keys/change-index.ts'
import { patientOwner } from '../keys/copies.ts'
import { patientChangeKey, patientKey, patientRowKey, patientTurnsKey } from '../keys/patients.ts'
import { Changeset } from '../table/changeset.ts'
import { ConditionFailed } from '../table/errors.ts'
import { type IdempotencyGuard, StoredResponse } from '../table/idempotency.ts'
import { optionalWork } from '../table/request-signal.ts'
import type { Table } from '../table/table.ts'
import { Contended, retryInTurns } from '../table/turns.ts'
import { isContended, moveHead, nextHead, type PatientHead, readPatientHead } from './head.ts'
import { type ImportedPatient, patientStore, recordItem, rowItem, type StoredPatient } from './patients.ts'
import { patientSearchLine } from './search-lines.ts'
import { patientSnapshots } from './snapshots.ts'

/** The most new patients in one transaction: four items each, and the head. */
export const MAX_CREATED = 24
/** The most updated patients in one transaction: seven items each, and the head. */
export const MAX_UPDATED = 14

/** A patient as it was read, and its new state. */
export type PatientChange = { readonly before: StoredPatient; readonly after: StoredPatient }

export function patientWriter({ table }: { table: Table }) {
  const [patients, snapshots] = [patientStore({ table }), patientSnapshots({ table })]
  /** The head as this writer left it, so that a run of writes by one writer reads it once. */
  const heads = new Map<ClinicId, PatientHead>()

  /** Creates one patient, and stores the response. Returns the stored response if the same request was completed before. */
  async function create(
    clinic: ClinicId,
    patient: Patient,
    idempotency: IdempotencyGuard,
    status: number,
    response: (created: Stamped<Patient>) => object,
  ): Promise<StoredResponse | Stamped<Patient>> {
    // Read the head again: another function may have moved it since this writer did.
    heads.delete(clinic)
    const outcome = await inTurns(clinic, async ({ readHead, commit }) => {
      const [stored, head] = await Promise.all([idempotency.find(), readHead()])
      if (stored) return stored
      const changes = new Changeset(table, clinic)
      const created = addCreation(changes, patient, head.n)
      idempotency.store(changes, status, response(created), patient.id)
      if (await commit(changes, head, { n: head.n + 1 })) return created
      // The same request was faster, or this one was committed before and its response was lost.
      return (await idempotency.find()) ?? (await patients.find(clinic, patient.id)) ?? created
    })
    if (outcome instanceof StoredResponse) return outcome
    // Search finds the patient already; a snapshot only makes that cheaper, and may wait for the next creation.
    await optionalWork(() => snapshots.snapshotIfDue(clinic, heads.get(clinic))).catch(() => undefined)
    return outcome
  }

  /**
   * Creates patients, in order, all or none. At most {@link MAX_CREATED}.
   * @throws ConditionFailed when one of the ids exists
   */
  async function createMany(clinic: ClinicId, patients: readonly ImportedPatient[]): Promise<void> {
    const isCommitted = await inTurns(clinic, async ({ readHead, commit }) => {
      const head = await readHead()
      const changes = new Changeset(table, clinic)
      for (const [index, patient] of patients.entries()) addCreation(changes, patient, head.n + index)
      return commit(changes, head, { n: head.n + patients.length })
    })
    if (!isCommitted) throw new ConditionFailed([])
  }

  /**
   * Changes patients that were read, all or none, and marks the copies of changed names and addresses as stale.
   * At most {@link MAX_UPDATED}. `extendChanges` adds to the same transaction. Returns the patients as stored.
   * @throws ConditionFailed when one was changed since it was read
   */
  async function update(
    clinic: ClinicId,
    patients: readonly PatientChange[],
    extendChanges: (changes: Changeset) => void = () => {},
  ): Promise<StoredPatient[]> {
    const updated = await inTurns(clinic, async ({ readHead, commit }) => {
      const head = await readHead()
      const changes = new Changeset(table, clinic)
      const updated = patients.map((change, index) => addUpdate(changes, change, head.u + index + 1))
      extendChanges(changes)
      return (await commit(changes, head, { u: head.u + patients.length })) ? updated : null
    })
    if (!updated) throw new ConditionFailed([])
    return updated
  }

  /** Runs work that moves the head. If another writer was faster, runs it again in a turn, with a fresh head. */
  function inTurns<T>(clinic: ClinicId, work: (head: HeadAccess) => Promise<T>): Promise<T> {
    const readProgress = async () => (await readPatientHead(table, clinic)).t ?? 0
    return retryInTurns({ table, key: patientTurnsKey(clinic), readProgress }, (turn) =>
      work({
        readHead: async () => {
          const known = turn ? undefined : heads.get(clinic)
          const head = known ?? (await readPatientHead(table, clinic))
          if (turn ? !turn.hasBegun(head.t ?? 0) : isContended(head)) throw new Contended()
          return head
        },
        commit: (changes, head, counters) => commit(changes, head, nextHead(head, counters, turn)),
      }),
    )
  }

  async function commit(changes: Changeset, head: PatientHead, next: PatientHead): Promise<boolean> {
    const { clinic } = changes
    const writes = changes.writes()
    heads.delete(clinic)
    changes.requireRecent()
    try {
      await table.tryTransact([...writes, moveHead(table, clinic, head, next)])
      heads.set(clinic, next)
      return true
    } catch (error) {
      const isHeadUnmoved = error instanceof ConditionFailed && !error.failedIndexes.includes(writes.length)
      if (!isHeadUnmoved) throw error
      return false
    }
  }

  return { create, createMany, update, ...snapshots }
}

function addCreation(changes: Changeset, patient: ImportedPatient, ordinal: number): Stamped<Patient> {
  const { clinic } = changes
  const eventDraft = changes.emitsEvents ? patientEventDraft(null, patient) : null
  const events = eventDraft ? 1 : 0
  if (eventDraft) changes.announce(patient.id, events, eventDraft)
  const created = { ...patient, updatedAt: changes.stamp(patient.createdAt) }
  const stored = { ...created, ordinal, version: 1, events }
  changes.put(recordItem(patientKey(clinic, patient.id), stored), 'new')
  changes.put(rowItem(patientRowKey(clinic, ordinal), created), 'new')
  changes.move(null, changeIndexKey(clinic, 'P', created))
  return created
}

function addUpdate(
  changes: Changeset,
  { before, after: wanted }: PatientChange,
  updateNumber: number,
): StoredPatient {
  const { clinic } = changes
  const eventDraft = changes.emitsEvents ? patientEventDraft(before, wanted) : null
  const events = before.events + (eventDraft ? 1 : 0)
  if (eventDraft) changes.announce(wanted.id, events, eventDraft)
  const after = { ...wanted, updatedAt: changes.stamp(null), version: before.version + 1, events }
  changes.put(recordItem(patientKey(clinic, after.id), after), { version: before.version })
  changes.put(rowItem(patientRowKey(clinic, after.ordinal), after))
  changes.put({
    ...patientChangeKey(clinic, updateNumber),
    o: after.ordinal,
    line: patientSearchLine(after),
  })
  changes.move(changeIndexKey(clinic, 'P', before), changeIndexKey(clinic, 'P', after))
  if (copiedValues(before) !== copiedValues(after)) changes.markStale(patientOwner(after.id))
  return after
}

type HeadAccess = {
  readonly readHead: () => Promise<PatientHead>
  /** False when a condition other than the head's failed: a record exists already, or was changed. */
  readonly commit: (
    changes: Changeset,
    head: PatientHead,
    counters: { readonly n: number } | { readonly u: number },
  ) => Promise<boolean>
}

/** The values of a patient that other records copy. */
const copiedValues = ({ emailAddress, erasedAt, ...patient }: StoredPatient): string =>
  `${fullName(patient)}\n${emailAddress}\n${erasedAt}`
