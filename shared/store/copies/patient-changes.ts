import type { ClinicId } from '../../domain/clinic.ts'
import { eraseFields } from '../../domain/field-policy.ts'
import { PATIENT_FIELDS, type Patient } from '../../domain/patients/patient.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { clinicStore } from '../clinics.ts'
import { externalIds } from '../external-ids/links.ts'
import { patientOwner } from '../keys/copies.ts'
import { patientUpdates } from '../patients/patient-updates.ts'
import { patientWriter } from '../patients/patient-writer.ts'
import { patientStore, type StoredPatient } from '../patients/patients.ts'
import type { Changeset } from '../table/changeset.ts'
import { optionalWork } from '../table/request-scope.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { anonymizeLines, emptyResponses } from './anonymize.ts'
import { cancelAppointments } from './cancel-appointments.ts'
import { copiedNames } from './copied-names.ts'
import { type Erasure, erasureLedger } from './erasure-ledger.ts'

/** Changes a patient and every record that copies its name or addresses. */
export function patientChanges(table: Table) {
  const clinics = clinicStore({ table })
  const patients = patientStore({ table })
  const writer = patientWriter({ table })
  const updates = patientUpdates({ table })
  const copies = copiedNames(table)
  const ledger = erasureLedger({ table })
  const external = externalIds({ table })

  /** Returns the changed patient; null for an unknown or erased one. Writes nothing when nothing changes. */
  async function update(
    clinic: ClinicId,
    id: string,
    fields: Partial<Omit<Patient, 'id' | 'erasedAt'>>,
  ): Promise<WithUpdatedAt<Patient> | null> {
    const after = await change(clinic, id, (before) => (before.erasedAt ? null : { ...before, ...fields }))
    await writer.snapshotIfDue(clinic)
    return after
  }

  /**
   * Updates a patient for a request (patient-updates.ts), and then its copies, while the request has time. The copies that
   * are left stay marked as stale.
   */
  async function updateIdempotently(
    ...[clinic, id, ...change]: Parameters<typeof updates.update>
  ): Promise<StoredPatient | null> {
    const updated = await updates.update(clinic, id, ...change)
    if (updated) await optionalWork(() => copies.refresh(clinic, patientOwner(id)))
    return updated
  }

  /**
   * Cancels a patient's upcoming appointments, and anonymizes the patient permanently in every place: record, list row, search, appointments, invoices, payments, messages
   * and stored responses. The policies in shared/domain (`PATIENT_FIELDS` and its like) say what becomes of each field. Nothing that is left
   * can confirm a guess of an erased value.
   * Its first transaction records it in the ledger of erasures; the last write records there that it is finished. Safe to
   * repeat, also after an interruption.
   */
  async function erase(
    clinic: ClinicId,
    id: string,
    { at = new Date(table.now()).toISOString(), operator = 'unknown', importIds = [] }: Partial<Erasure> = {},
  ): Promise<StoredPatient | null> {
    let erasure = { patient: id, at, operator, importIds }
    const eraseAll = async (before: StoredPatient) => {
      // A link that is added or removed after this changes the version of the patient.
      const ids = [...new Set([...importIds, ...(await external.linkedIdsOf(clinic, before))])]
      // An external id that imports used for another patient since it was unlinked belongs to that patient.
      const others = await patients.findMany(clinic, ids)
      erasure = { ...erasure, importIds: ids.filter((one) => !others.has(one)) }
      return {
        ...before,
        ...eraseFields<Patient>(before, PATIENT_FIELDS),
        erasedAt: before.erasedAt ?? at,
        imported: undefined,
        isLinkedByApi: undefined,
      }
    }
    const after = await change(clinic, id, eraseAll, (changes) => ledger.begin(changes, erasure))
    if (!after) return null
    await cancelAppointments(table, clinic, id)
    await anonymizeLines(table, clinic, after)
    await emptyResponses(table, clinic, ({ p }) => p === id)
    // Without the secret, the hashes of recipients and the digests of imported files cannot be recomputed.
    if (!(await ledger.findMany(clinic, [id])).get(id)?.isFinished)
      await clinics.replaceRecipientSecret(clinic)
    // Immediately, not when it is due: until then the segments hold the old line.
    await writer.snapshotAll(clinic)
    await ledger.finish(clinic, erasure)
    return after
  }

  async function change(
    clinic: ClinicId,
    id: string,
    apply: (before: StoredPatient) => StoredPatient | null | Promise<StoredPatient>,
    extendChanges?: (changes: Changeset) => void,
  ): Promise<StoredPatient | null> {
    return retryOnConflict(async () => {
      const before = await patients.find(clinic, id)
      const after = before && (await apply(before))
      if (!after) return null
      const isChanged = JSON.stringify(before) !== JSON.stringify(after)
      const changed = isChanged
        ? (await writer.tryUpdate(clinic, [{ before, after }], extendChanges)).patients
        : [after]
      await copies.refresh(clinic, patientOwner(id))
      return changed[0] as StoredPatient
    })
  }

  return { update, updateIdempotently, erase }
}
