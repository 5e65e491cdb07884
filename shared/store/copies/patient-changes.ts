import type { ClinicId } from '../../domain/clinic.ts'
import { eraseFields } from '../../domain/field-policy.ts'
import { PATIENT_FIELDS, type Patient } from '../../domain/patient.ts'
import { patientOwner } from '../keys/copies.ts'
import { storedResponsesPartition } from '../keys/idempotency.ts'
import { patientChangesPartition } from '../keys/patients.ts'
import { patientWriter } from '../patients/patient-writer.ts'
import { patientStore, type StoredPatient } from '../patients/patients.ts'
import { patientSearchLine } from '../patients/search-lines.ts'
import { retryOnConflict } from '../table/retry-on-conflict.ts'
import { ConditionFailed, type Item, type Table } from '../table/table.ts'
import { copiedNames } from './copied-names.ts'

/** Changes a patient and every record that copies its name or addresses. */
export function patientChanges(table: Table) {
  const patients = patientStore({ table })
  const writer = patientWriter({ table })
  const copies = copiedNames(table)

  /** Returns the changed patient; null for an unknown or erased one. Writes nothing when nothing changes. */
  async function update(
    clinic: ClinicId,
    id: string,
    fields: Partial<Omit<Patient, 'id'>>,
  ): Promise<Patient | null> {
    const after = await change(clinic, id, (before) => (before.erased ? null : { ...before, ...fields }))
    await writer.snapshotIfDue(clinic)
    return after
  }

  /**
   * Anonymizes a patient permanently in every place: record, list row, search, appointments, invoices, payments, messages
   * and stored responses. The policies in shared/domain (`PATIENT_FIELDS` and its like) say what becomes of each field.
   * Safe to repeat. `anonymizeResponse` anonymizes the body of a stored response, whose format the store does not know.
   */
  async function erase(
    clinic: ClinicId,
    id: string,
    anonymizeResponse: (body: string) => string,
  ): Promise<StoredPatient | null> {
    const after = await change(clinic, id, (before) => ({
      ...before,
      ...eraseFields<Patient>(before, PATIENT_FIELDS),
      erased: true,
    }))
    if (!after) return null
    await anonymizeLines(clinic, after)
    await anonymizeResponses(clinic, id, anonymizeResponse)
    // Immediately, not when it is due: until then the segments hold the old line.
    await writer.snapshotAll(clinic)
    return after
  }

  async function change(
    clinic: ClinicId,
    id: string,
    apply: (before: StoredPatient) => StoredPatient | null,
  ): Promise<StoredPatient | null> {
    return retryOnConflict(async () => {
      const before = (await patients.findMany(clinic, [id])).get(id)
      const after = before && apply(before)
      if (!after) return null
      if (JSON.stringify(before) !== JSON.stringify(after)) await writer.update(clinic, [{ before, after }])
      await copies.refresh(clinic, patientOwner(id))
      return after
    })
  }

  /** Replaces the lines of earlier names in the change log. */
  async function anonymizeLines(clinic: ClinicId, patient: StoredPatient): Promise<void> {
    const log = await table.query({ pk: patientChangesPartition(clinic), limit: 100_000 })
    const line = patientSearchLine(patient)
    for (const old of log.filter(({ o }) => o === patient.ordinal)) {
      // A snapshot may have deleted the entry since.
      await table
        .update(old, {
          UpdateExpression: 'SET line = :line',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':line': line },
        })
        .catch(ignoreFailedCondition)
    }
  }

  /** Anonymizes stored responses that show the patient. Their idempotency keys stay used. */
  async function anonymizeResponses(
    clinic: ClinicId,
    id: string,
    anonymizeResponse: (body: string) => string,
  ): Promise<void> {
    const responses = await table.query({ pk: storedResponsesPartition(clinic), limit: 1_000_000 })
    for (const response of responses.filter(({ p }) => p === id)) {
      const { pk, sk } = response
      let read: Item | undefined = response
      // After it expired, the key may have been used for another patient, whose response must not be changed.
      while (read?.p === id && !(await replaceBody(read, anonymizeResponse)))
        read = await table.get({ pk, sk })
    }
  }

  /** False when the response is no longer as it was read. */
  async function replaceBody(read: Item, anonymizeResponse: (body: string) => string): Promise<boolean> {
    try {
      await table.update(read, {
        UpdateExpression: 'SET #body = :body',
        ConditionExpression: 'p = :patient AND #body = :read',
        ExpressionAttributeNames: { '#body': 'body' },
        ExpressionAttributeValues: {
          ':body': anonymizeResponse(read.body as string),
          ':patient': read.p,
          ':read': read.body,
        },
      })
      return true
    } catch (error) {
      if (error instanceof ConditionFailed) return false
      throw error
    }
  }

  return { update, erase }
}

function ignoreFailedCondition(error: unknown): void {
  if (!(error instanceof ConditionFailed)) throw error
}
