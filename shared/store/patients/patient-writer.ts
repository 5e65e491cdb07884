/** Creates and updates patients. A write that search must notice moves the clinic's head, which numbers it. */
import type { ClinicId } from '../../domain/clinic.ts'
import { fullName, type Patient } from '../../domain/patients/patient.ts'
import { inLaterSecond } from '../../domain/timestamp.ts'
import { patientEventDraft } from '../../domain/webhooks/event.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { externalIds, orStoredIfTaken } from '../external-ids/links.ts'
import { providedByApi } from '../external-ids/provenance.ts'
import { changeIndexKey } from '../keys/change-index.ts'
import { patientOwner } from '../keys/copies.ts'
import { externalIdLinkKey } from '../keys/external-ids.ts'
import { patientChangeKey, patientKey, patientRowKey } from '../keys/patients.ts'
import { Changeset } from '../table/changeset.ts'
import { ConditionFailed } from '../table/errors.ts'
import { Contended } from '../table/fair-queue.ts'
import { type IdempotencyGuard, StoredResponse } from '../table/idempotency.ts'
import { optionalWork } from '../table/request-signal.ts'
import type { Table } from '../table/table.ts'
import { type HeadAccess, headWriter } from './head.ts'
import { inactivePatients } from './inactive-patients.ts'
import { nationalIds } from './national-ids.ts'
import { type ImportedPatient, patientStore, recordItem, rowItem, type StoredPatient } from './patients.ts'
import { patientSearchLine } from './search-lines.ts'
import { patientSnapshots } from './snapshots.ts'

/** The most new patients in one transaction: six items each, the head, and two parts of the inactive patients. */
export const MAX_CREATED = 16
/** The most updated patients in one transaction: eleven items each, as none has a new external id, the head, and two parts of the inactive patients. */
export const MAX_UPDATED = 8

/** A patient as it was read, and its new state. */
export type PatientChange = { readonly before: StoredPatient; readonly after: StoredPatient }

/** A change of a patient, or a new patient, whose `before` is null. */
type Move = { readonly before: StoredPatient | null; readonly after: StoredPatient }

/** A patient to be created, and the number of its earlier events, if there are any. */
type NewPatient = ImportedPatient & { readonly events?: number }

export function patientWriter({ table }: { table: Table }) {
  const patients = patientStore({ table })
  const snapshots = patientSnapshots({ table })
  const identified = nationalIds({ table })
  const inactive = inactivePatients({ table })
  const external = externalIds({ table })
  const { inQueue, forget, latest } = headWriter({ table })

  /**
   * Creates one patient, and stores the response. Returns the stored response if the same request was completed before.
   * @throws ExternalIdTaken
   */
  async function create(
    clinic: ClinicId,
    patient: Patient,
    idempotency: IdempotencyGuard,
    status: number,
    response: (created: WithUpdatedAt<Patient>) => object,
  ): Promise<StoredResponse | WithUpdatedAt<Patient>> {
    forget(clinic)
    const attempt = async ({
      readHead,
      commit,
    }: HeadAccess): Promise<StoredResponse | WithUpdatedAt<Patient>> => {
      const [stored, head] = await Promise.all([idempotency.find(), readHead()])
      if (stored) return stored
      const changes = new Changeset(table, clinic)
      const { externalId } = patient
      const imported = externalId === null ? patient : { ...patient, ...providedByApi(externalId) }
      const created = addCreation(changes, imported, head.n)
      await external.move(changes, 'patient', patient.id, null, externalId)
      idempotency.store(changes, status, response(created), patient.id)
      await moveIndexes(changes, [{ before: null, after: created }])
      if (await commit(changes, head, { n: head.n + 1 })) return created
      // A repetition of the request was faster, or this commit succeeded and its response was lost.
      const earlier = (await idempotency.find()) ?? (await patients.find(clinic, patient.id))
      // Another record got the external id at the same time.
      if (!earlier && externalId !== null) throw new Contended()
      return earlier ?? created
    }
    const outcome = await orStoredIfTaken(idempotency, () => inQueue(clinic, attempt))
    if (outcome instanceof StoredResponse) return outcome
    // Search finds the patient already; a snapshot only makes that cheaper, and may wait for the next creation.
    await optionalWork(() => snapshots.snapshotIfDue(clinic, latest(clinic))).catch(() => undefined)
    return outcome
  }

  /**
   * Creates patients, in order, all or none, whose ids follow from their external ids. At most {@link MAX_CREATED}. The events of one
   * who was removed continue after its earlier ones.
   * @throws ConditionFailed when one of the ids exists, or one of the external ids is linked to another patient
   */
  async function createMany(clinic: ClinicId, patients: readonly NewPatient[]): Promise<void> {
    const isCommitted = await inQueue(clinic, async ({ readHead, commit }) => {
      const head = await readHead()
      const changes = new Changeset(table, clinic)
      const created = patients.map((patient, index) => addCreation(changes, patient, head.n + index))
      await moveIndexes(
        changes,
        created.map((after) => ({ before: null, after })),
      )
      for (const { id, externalId } of patients)
        if (externalId !== null) changes.requireVersion(externalIdLinkKey(clinic, id), null)
      return commit(changes, head, { n: head.n + patients.length })
    })
    if (!isCommitted) throw new ConditionFailed([])
  }

  /**
   * Changes patients that were read, all or none, and marks the copies of changed names and addresses as stale.
   * At most {@link MAX_UPDATED}. `extendChanges` adds to the same transaction. Returns the patients as stored.
   * @throws ConditionFailed when one was changed since it was read; ExternalIdTaken
   */
  async function update(
    clinic: ClinicId,
    patients: readonly PatientChange[],
    extendChanges?: (changes: Changeset, updated: readonly StoredPatient[]) => void,
  ): Promise<StoredPatient[]> {
    const updated = await inQueue(clinic, (head) => tryUpdate(clinic, head, patients, extendChanges))
    if (!updated) throw new ConditionFailed([])
    return updated
  }

  /** One attempt of {@link update}, for work that reads the patients itself in the queue. Null when one was changed since. */
  async function tryUpdate(
    clinic: ClinicId,
    { hasTicket, readHead, commit }: HeadAccess,
    patients: readonly PatientChange[],
    extendChanges: (changes: Changeset, updated: readonly StoredPatient[]) => void = () => {},
  ): Promise<StoredPatient[] | null> {
    const numbered = patients.filter(isFoundOtherwise).length
    const head = await readHead()
    const changes = new Changeset(table, clinic)
    let next = head.u + 1
    const updated = patients.map((change) =>
      addUpdate(changes, change, isFoundOtherwise(change) ? next++ : null),
    )
    await moveIndexes(changes, patients)
    for (const { before, after } of patients)
      await external.move(changes, 'patient', after.id, before.externalId, after.externalId)
    extendChanges(changes, updated)
    const movesHead = numbered > 0 || hasTicket
    return (await commit(changes, movesHead ? head : null, { u: head.u + numbered })) ? updated : null
  }

  /** Adds what finds patients besides their list and search: their national ids, and who is inactive. */
  async function moveIndexes(changes: Changeset, moves: readonly Move[]): Promise<void> {
    for (const { before, after } of moves) await identified.move(changes, before, after)
    const turned = moves.filter(({ before, after }) => (before?.isActive ?? true) !== after.isActive)
    await inactive.move(
      changes,
      turned.map(({ after }) => after),
    )
  }

  return { create, createMany, update, tryUpdate, inQueue, forget, latest, ...snapshots }
}

function addCreation(changes: Changeset, patient: NewPatient, ordinal: number): StoredPatient {
  const { clinic } = changes
  const eventDraft = changes.emitsEvents ? patientEventDraft(null, patient) : null
  const events = (patient.events ?? 0) + (eventDraft ? 1 : 0)
  if (eventDraft) changes.announce(patient.id, events, eventDraft)
  const created = { ...patient, updatedAt: changes.timeOfChange(patient.createdAt) }
  const stored = { ...created, ordinal, version: 1, events }
  changes.put(recordItem(patientKey(clinic, patient.id), stored), 'new')
  changes.put(rowItem(patientRowKey(clinic, ordinal), created), 'new')
  changes.move(null, changeIndexKey(clinic, 'P', created))
  return stored
}

/** Adds an update. Its number in the change log is null if search finds the patient as before. */
function addUpdate(
  changes: Changeset,
  { before, after: wanted }: PatientChange,
  updateNumber: number | null,
): StoredPatient {
  const { clinic } = changes
  const eventDraft = changes.emitsEvents ? patientEventDraft(before, wanted) : null
  const events = before.events + (eventDraft ? 1 : 0)
  if (eventDraft) changes.announce(wanted.id, events, eventDraft)
  const now = changes.timeOfChange(null)
  // A time before that of the last change would give the patient the etag of an earlier state again.
  const isShown = privateValues(before) === privateValues(wanted) && before.updatedAt <= now
  const updatedAt = isShown ? now : inLaterSecond(before.updatedAt, now)
  const after = { ...wanted, updatedAt, version: before.version + 1, events }
  changes.put(recordItem(patientKey(clinic, after.id), after), { version: before.version })
  // Lists show the time of the last change, so every change rewrites the row.
  changes.put(rowItem(patientRowKey(clinic, after.ordinal), after))
  if (updateNumber !== null)
    changes.put({
      ...patientChangeKey(clinic, updateNumber),
      o: after.ordinal,
      line: patientSearchLine(after),
    })
  changes.move(changeIndexKey(clinic, 'P', before), changeIndexKey(clinic, 'P', after))
  if (copiedValues(before) !== copiedValues(after)) changes.markStale(patientOwner(after.id))
  return after
}

/** Whether search finds the patient by other words than before. */
const isFoundOtherwise = ({ before, after }: PatientChange): boolean =>
  patientSearchLine(before) !== patientSearchLine(after)

/** The values of a patient that not every response shows. */
const privateValues = ({ nationalId, notes }: Patient): string => JSON.stringify([nationalId, notes])

/** The values of a patient that other records copy. */
const copiedValues = ({ emailAddress, erasedAt, ...patient }: StoredPatient): string =>
  `${fullName(patient)}\n${emailAddress}\n${erasedAt}`
