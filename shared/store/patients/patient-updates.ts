import type { ClinicId } from '../../domain/clinic.ts'
import type { Patient } from '../../domain/patients/patient.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { providedByApi } from '../external-ids/provenance.ts'
import { patientKey } from '../keys/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { RequestedWrite } from '../table/idempotency.ts'
import { optionalWork } from '../table/request-scope.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { patientWriter } from './patient-writer.ts'
import { patientStore, type StoredPatient } from './patients.ts'

/** New values of some fields of a patient. */
export type PatientFields = Partial<Omit<Patient, 'id' | 'createdAt' | 'erasedAt'>>

export function patientUpdates({ table }: { table: Table }) {
  const patients = patientStore({ table })
  const writer = patientWriter({ table })

  /**
   * Changes a patient for a request; null for an unknown or erased one. Returns the patient as it is then stored.
   * @throws ExternalIdTaken; RequestCompleted
   */
  async function update(
    clinic: ClinicId,
    id: string,
    fields: PatientFields,
    request: RequestedWrite<WithUpdatedAt<Patient>>,
  ): Promise<StoredPatient | null> {
    const attempt = async () => {
      const [before] = await Promise.all([patients.find(clinic, id), request.requireNew()])
      if (!before || before.erasedAt) return null
      request.requireMatch(before)
      const after = withChanges(before, fields, request.confirmsExternalIds)
      if (JSON.stringify(before) === JSON.stringify(after)) {
        // Unless the patient is changed, or erased, at the same time.
        const changes = new Changeset(table, clinic)
        request.store(changes, before, id)
        if (changes.size > 0) changes.requireVersion(patientKey(clinic, id), before.version)
        await changes.commit()
        return { patient: before, head: null }
      }
      const changed = await writer.tryUpdate(clinic, [{ before, after }], (changes, [updated]) =>
        request.store(changes, updated as StoredPatient, id),
      )
      return { patient: changed.patients[0] as StoredPatient, head: changed.head }
    }
    const updated = await retryOnConflict(attempt)
    if (!updated) return null
    const { patient, head } = updated
    // Search finds the patient already; a snapshot only makes that cheaper, and may wait for the next change.
    if (head) await optionalWork(() => writer.snapshotIfDue(clinic, head))
    return patient
  }

  return { update }
}

/** The patient with new fields. No import has provided a new external id. */
function withChanges(before: StoredPatient, fields: PatientFields, isConfirmed: boolean): StoredPatient {
  const after = { ...before, ...fields }
  if (after.externalId === before.externalId) return after
  const { imported: _, isLinkedByApi: __, ...patient } = after
  return { ...patient, ...providedByApi(after.externalId, isConfirmed) }
}
