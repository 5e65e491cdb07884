/** Creates and updates patients. A write that search must notice moves the clinic's head, which numbers it. */
import type { ClinicId } from '../../domain/clinic.ts'
import { fullName, type Patient } from '../../domain/patients/patient.ts'
import { inLaterSecond } from '../../domain/timestamp.ts'
import { patientEventDraft } from '../../domain/webhooks/event.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { externalIds } from '../external-ids/links.ts'
import { providedByApi } from '../external-ids/provenance.ts'
import { changeIndexKey } from '../keys/change-index.ts'
import { patientOwner } from '../keys/copies.ts'
import { externalIdLinkKey } from '../keys/external-ids.ts'
import { patientChangeKey, patientKey, patientRowKey } from '../keys/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { RequestedWrite } from '../table/idempotency.ts'
import { optionalWork } from '../table/request-scope.ts'
import { repeatOnConflict, retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { commitWithHead, type PatientHead, readPatientHead } from './head.ts'
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

  /**
   * Creates one patient for a request.
   * @throws ExternalIdTaken; RequestCompleted
   */
  async function create(
    clinic: ClinicId,
    patient: Patient,
    request: RequestedWrite<WithUpdatedAt<Patient>>,
  ): Promise<WithUpdatedAt<Patient>> {
    const attempt = async (count: number) => {
      const [head, earlier] = await Promise.all([
        readPatientHead(table, clinic),
        count === 1 ? null : patients.find(clinic, patient.id),
        request.requireNew(),
      ])
      // An earlier attempt was committed after all, although its response was lost.
      if (earlier) return { patient: earlier, head }
      const changes = new Changeset(table, clinic)
      const { externalId } = patient
      const provenance = externalId === null ? {} : providedByApi(externalId, request.confirmsExternalIds)
      const created = addCreation(changes, { ...patient, ...provenance }, head.patients)
      await external.move(changes, 'patient', patient.id, null, externalId)
      request.store(changes, created, patient.id)
      await moveIndexes(changes, [{ before: null, after: created }])
      return { patient: created, head: await commitWithHead(table, changes, head, { patients: 1 }) }
    }
    const created = await retryOnConflict(attempt)
    // Search finds the patient already; a snapshot only makes that cheaper, and may wait for the next creation.
    await optionalWork(() => snapshots.snapshotIfDue(clinic, created.head))
    return created.patient
  }

  /**
   * Creates patients, in order, all or none, whose ids follow from their external ids. At most {@link MAX_CREATED}. The events of one
   * who was removed continue after its earlier ones.
   * @throws ConditionFailed when one of the ids exists, or one of the external ids is linked to another patient
   */
  async function createMany(clinic: ClinicId, patients: readonly NewPatient[]): Promise<void> {
    await repeatOnConflict(async () => {
      const head = await readPatientHead(table, clinic)
      const changes = new Changeset(table, clinic)
      const created = patients.map((patient, index) => addCreation(changes, patient, head.patients + index))
      await moveIndexes(
        changes,
        created.map((after) => ({ before: null, after })),
      )
      for (const { id, externalId } of patients)
        if (externalId !== null) changes.requireVersion(externalIdLinkKey(clinic, id), null)
      await commitWithHead(table, changes, head, { patients: patients.length })
    })
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
    return repeatOnConflict(async () => (await tryUpdate(clinic, patients, extendChanges)).patients)
  }

  /** One attempt of {@link update}, for work that reads the patients again itself. */
  async function tryUpdate(
    clinic: ClinicId,
    patients: readonly PatientChange[],
    extendChanges: (changes: Changeset, updated: readonly StoredPatient[]) => void = () => {},
  ): Promise<{ patients: StoredPatient[]; head: PatientHead | null }> {
    const numbered = patients.filter(isFoundOtherwise).length
    const head = numbered > 0 ? await readPatientHead(table, clinic) : null
    const changes = new Changeset(table, clinic)
    let next = (head?.updates ?? 0) + 1
    const updated = patients.map((change) =>
      addUpdate(changes, change, isFoundOtherwise(change) ? next++ : null),
    )
    await moveIndexes(changes, patients)
    for (const { before, after } of patients)
      await external.move(changes, 'patient', after.id, before.externalId, after.externalId)
    extendChanges(changes, updated)
    if (head)
      return { patients: updated, head: await commitWithHead(table, changes, head, { updates: numbered }) }
    await changes.commit()
    return { patients: updated, head: null }
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

  return { create, createMany, update, tryUpdate, ...snapshots }
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
