/** Creates and updates patients. A write that search must notice moves the clinic's head, which numbers it. */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../domain/clinic.ts'
import { patientEventDraft } from '../../domain/event.ts'
import { fullName, type Patient } from '../../domain/patient.ts'
import { patientOwner } from '../keys/copies.ts'
import { patientChangeKey, patientKey, patientRowKey } from '../keys/patients.ts'
import { Changeset } from '../table/changeset.ts'
import { ConditionFailed } from '../table/errors.ts'
import type { IdempotencyGuard, StoredResponse } from '../table/idempotency.ts'
import { optionalWork } from '../table/request-signal.ts'
import { repeatOnConflict } from '../table/retry-on-conflict.ts'
import type { Table } from '../table/table.ts'
import { headWriter } from './head-writer.ts'
import { patientIndexes } from './patient-indexes.ts'
import { type ImportedPatient, recordItem, rowItem, type StoredPatient } from './patients.ts'
import { patientSearchLine } from './search-lines.ts'
import { patientSnapshots } from './snapshots.ts'

/** The most new patients in one transaction: four items each, the head, and two parts of the inactive patients. */
export const MAX_CREATED = 24
/** The most updated patients in one transaction: eight items each, and the head. */
export const MAX_UPDATED = 12

/** A patient as it was read, and its new state. */
export type PatientChange = { readonly before: StoredPatient; readonly after: StoredPatient }

export function patientWriter({ table }: { table: Table }) {
  const snapshots = patientSnapshots({ table })
  const indexes = patientIndexes({ table })
  const { inTurns, forget, latest } = headWriter({ table })

  /** Creates one patient and stores the response; the stored response if the same request was completed before. */
  async function create(
    clinic: ClinicId,
    patient: Patient,
    idempotency: IdempotencyGuard,
    status: number,
    response: object,
  ): Promise<StoredResponse | null> {
    forget(clinic)
    const stored = await inTurns(clinic, async ({ readHead, commit }) => {
      const [stored, head] = await Promise.all([idempotency.find(), readHead()])
      if (stored) return stored
      const changes = new Changeset(table, clinic)
      idempotency.store(changes, status, response, patient.id)
      await indexes.move(changes, [{ before: null, after: addCreation(changes, patient, head.n) }])
      if (await commit(changes, head, { n: head.n + 1 })) return null
      // Either the same request was faster, or this one was committed before and its response was lost.
      return idempotency.find()
    })
    // Search finds the patient already; a snapshot only makes that cheaper, and may wait for the next creation.
    if (!stored)
      await optionalWork(() => snapshots.snapshotIfDue(clinic, latest(clinic))).catch(() => undefined)
    return stored
  }

  /**
   * Creates patients, in order, all or none. At most {@link MAX_CREATED}.
   * @throws ConditionFailed when one of the ids exists
   */
  async function createMany(clinic: ClinicId, patients: readonly ImportedPatient[]): Promise<void> {
    const isCommitted = await inTurns(clinic, async ({ readHead, commit }) => {
      const head = await readHead()
      const changes = new Changeset(table, clinic)
      const created = patients.map((patient, index) => addCreation(changes, patient, head.n + index))
      await indexes.move(
        changes,
        created.map((after) => ({ before: null, after })),
      )
      return commit(changes, head, { n: head.n + patients.length })
    })
    if (!isCommitted) throw new ConditionFailed([])
  }

  /**
   * Changes patients that were read, all or none, and marks the copies of changed names and addresses as stale.
   * At most {@link MAX_UPDATED}. `extendChanges` adds to the same transaction.
   * @throws ConditionFailed when one was changed since it was read
   */
  async function update(
    clinic: ClinicId,
    patients: readonly PatientChange[],
    extendChanges: (changes: Changeset) => void = () => {},
  ): Promise<void> {
    const build = async (firstUpdate: number): Promise<Changeset> => {
      const changes = new Changeset(table, clinic)
      let next = firstUpdate
      for (const change of patients) addUpdate(changes, change, isFoundOtherwise(change) ? next++ : null)
      await indexes.move(changes, patients)
      extendChanges(changes)
      return changes
    }
    const numbered = patients.filter(isFoundOtherwise).length
    if (numbered === 0) return repeatOnConflict(async () => (await build(0)).commit())
    const isCommitted = await inTurns(clinic, async ({ readHead, commit }) => {
      const head = await readHead()
      return commit(await build(head.u + 1), head, { u: head.u + numbered })
    })
    if (!isCommitted) throw new ConditionFailed([])
  }

  return { create, createMany, update, forget, latest, ...snapshots }
}

function addCreation(changes: Changeset, patient: ImportedPatient, ordinal: number): StoredPatient {
  const { clinic } = changes
  const eventDraft = changes.emitsEvents ? patientEventDraft(null, patient) : null
  const events = eventDraft ? 1 : 0
  if (eventDraft) changes.announce(patient.id, events, eventDraft)
  const stored = { ...patient, ordinal, version: 1, events }
  changes.put(recordItem(patientKey(clinic, patient.id), stored), 'new')
  changes.put(rowItem(patientRowKey(clinic, ordinal), patient), 'new')
  return stored
}

/** Adds an update. Its number in the change log is null if search finds the patient as before. */
function addUpdate(changes: Changeset, { before, after }: PatientChange, updateNumber: number | null): void {
  const { clinic } = changes
  const eventDraft = changes.emitsEvents ? patientEventDraft(before, after) : null
  const events = before.events + (eventDraft ? 1 : 0)
  if (eventDraft) changes.announce(after.id, events, eventDraft)
  const record = recordItem(patientKey(clinic, after.id), { ...after, version: before.version + 1, events })
  changes.put(record, { version: before.version })
  const rowKey = patientRowKey(clinic, after.ordinal)
  const row = rowItem(rowKey, after)
  if (!isDeepStrictEqual(row, rowItem(rowKey, before))) changes.put(row)
  if (updateNumber !== null)
    changes.put({
      ...patientChangeKey(clinic, updateNumber),
      o: after.ordinal,
      line: patientSearchLine(after),
    })
  if (copiedValues(before) !== copiedValues(after)) changes.markStale(patientOwner(after.id))
}

/** Whether search finds the patient by other words than before. */
const isFoundOtherwise = ({ before, after }: PatientChange): boolean =>
  patientSearchLine(before) !== patientSearchLine(after)

/** The values of a patient that other records copy. */
const copiedValues = ({ emailAddress, erasedAt, ...patient }: StoredPatient): string =>
  `${fullName(patient)}\n${emailAddress}\n${erasedAt}`
