import type { ClinicId } from '../../domain/clinic.ts'
import type { Patient } from '../../domain/patients/patient.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { orStoredIfTaken } from '../external-ids/links.ts'
import { patientKey } from '../keys/patients.ts'
import { Changeset } from '../table/changeset.ts'
import { type ResponseToStore, StoredResponse } from '../table/idempotency.ts'
import { optionalWork } from '../table/request-signal.ts'
import { retryOnConflict } from '../table/retry-on-conflict.ts'
import type { Table } from '../table/table.ts'
import { patientWriter } from './patient-writer.ts'
import { patientStore, type StoredPatient } from './patients.ts'

/** New values of some fields of a patient. */
export type PatientFields = Partial<Omit<Patient, 'id' | 'createdAt' | 'erasedAt'>>

/** Updates a patient for a request. */
export function patientUpdates({ table }: { table: Table }) {
  const patients = patientStore({ table })
  const writer = patientWriter({ table })

  /**
   * Changes a patient together with its idempotent response; null for an unknown or erased one. Returns the stored response
   * if the request is a repeat. `newFields` returns the fields to change, and may throw.
   * @throws ExternalIdTaken
   */
  async function update(
    clinic: ClinicId,
    id: string,
    newFields: (before: WithUpdatedAt<Patient>) => PatientFields,
    { idempotency, status, response }: ResponseToStore<WithUpdatedAt<Patient>>,
  ): Promise<StoredResponse | StoredPatient | null> {
    const attempt = async () => {
      const [stored, found] = await Promise.all([idempotency.find(), patients.findMany(clinic, [id])])
      const before = found.get(id)
      if (stored) return stored
      if (!before || before.erasedAt) return null
      const after = withChanges(before, newFields(before))
      const store = (changes: Changeset, stored: StoredPatient) =>
        idempotency.store(changes, status, response(stored), id)
      if (JSON.stringify(before) === JSON.stringify(after)) {
        await storeUnchanged(clinic, before, (changes) => store(changes, before))
        return { patient: before, head: null }
      }
      const changed = await writer.tryUpdate(clinic, [{ before, after }], (changes, [updated]) =>
        store(changes, updated as StoredPatient),
      )
      return { patient: changed.patients[0] as StoredPatient, head: changed.head }
    }
    const updated = await orStoredIfTaken(idempotency, () => retryOnConflict(attempt))
    if (!updated || updated instanceof StoredResponse) return updated
    const { patient, head } = updated
    // Search finds the patient already; a snapshot only makes that cheaper, and may wait for the next change.
    if (head) await optionalWork(() => writer.snapshotIfDue(clinic, head)).catch(() => undefined)
    return patient
  }

  /** Stores the response to a request that changes nothing, unless the patient is changed, or erased, at the same time. */
  async function storeUnchanged(
    clinic: ClinicId,
    { id, version }: StoredPatient,
    store: (changes: Changeset) => void,
  ): Promise<void> {
    const changes = new Changeset(table, clinic)
    store(changes)
    if (changes.size === 0) return
    changes.requireVersion(patientKey(clinic, id), version)
    await changes.commit()
  }

  return { update }
}

/** The patient with new fields. No import has provided a new external id. */
function withChanges(before: StoredPatient, fields: PatientFields): StoredPatient {
  const after = { ...before, ...fields }
  if (after.externalId === before.externalId) return after
  const { imported: _, ...patient } = after
  return { ...patient, isLinkedByApi: true }
}
