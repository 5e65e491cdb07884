import type { ClinicId } from '../../domain/clinic.ts'
import { NOBODY, type Patient } from '../../domain/patient.ts'
import { withoutPatient } from '../../domain/stored-response.ts'
import { patientOwner } from '../keys/copies.ts'
import { keptAnswersPartition } from '../keys/idempotency.ts'
import { patientChangesPartition } from '../keys/patients.ts'
import { patientEntry } from '../patients/patient-writes.ts'
import { type PlacedPatient, patientStore } from '../patients/patients.ts'
import { lineOf } from '../patients/search-lines.ts'
import { uncontested } from '../table/retry-on-conflict.ts'
import { ConditionFailed, type Table } from '../table/table.ts'
import { fanOut } from './copied-names.ts'

/** Changes patients on the clinic's side, and everything that copies them. */
export function patientChanges(table: Table) {
  const patients = patientStore({ table })
  const entry = patientEntry({ table })
  const copies = fanOut(table)

  /** The changed patient, or null when there is none or it was erased. Changing nothing writes nothing. */
  async function update(
    clinic: ClinicId,
    id: string,
    fields: Partial<Omit<Patient, 'id'>>,
  ): Promise<Patient | null> {
    const after = await change(clinic, id, (before) => (before.erased ? null : { ...before, ...fields }))
    await entry.snapshotIfDue(clinic)
    return after
  }

  /**
   * Anonymises a patient for good, wherever they stand: record, list row, search, appointments, invoices, payments,
   * messages. Ordinals, totals, statuses and amounts stay. Safe to repeat.
   */
  async function erase(clinic: ClinicId, id: string): Promise<PlacedPatient | null> {
    const after = await change(clinic, id, (before) => ({ ...before, ...NOBODY, erased: true }))
    if (!after) return null
    await forgetLines(clinic, after)
    await forgetAnswers(clinic, id)
    // Not when it is due, but now: the segments hold the old line until they are written anew.
    await entry.snapshotAll(clinic)
    return after
  }

  async function change(
    clinic: ClinicId,
    id: string,
    to: (before: PlacedPatient) => PlacedPatient | null,
  ): Promise<PlacedPatient | null> {
    return uncontested(async () => {
      const before = (await patients.findMany(clinic, [id])).get(id)
      const after = before && to(before)
      if (!after) return null
      if (JSON.stringify(before) !== JSON.stringify(after)) await entry.update(clinic, [{ before, after }])
      await copies.pay(clinic, patientOwner(id))
      return after
    })
  }

  /** The change log still has the lines of earlier names. */
  async function forgetLines(clinic: ClinicId, patient: PlacedPatient): Promise<void> {
    const log = await table.query({ pk: patientChangesPartition(clinic), limit: 100_000 })
    const line = lineOf(patient)
    for (const old of log.filter(({ o }) => o === patient.ordinal)) {
      // A snapshot may have taken the entry in, and away, since.
      await table
        .update(old, {
          UpdateExpression: 'SET line = :line',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':line': line },
        })
        .catch(ignoreFailedCondition)
    }
  }

  /** Answers that are kept for repetitions tell of the patient as they were; their keys stay used. */
  async function forgetAnswers(clinic: ClinicId, id: string): Promise<void> {
    const kept = await table.query({ pk: keptAnswersPartition(clinic), limit: 1_000_000 })
    for (const answer of kept.filter(({ p }) => p === id)) {
      await table
        .update(answer, {
          UpdateExpression: 'SET #body = :body',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeNames: { '#body': 'body' },
          ExpressionAttributeValues: { ':body': withoutPatient(answer.body as string) },
        })
        .catch(ignoreFailedCondition)
    }
  }

  return { update, erase }
}

function ignoreFailedCondition(error: unknown): void {
  if (!(error instanceof ConditionFailed)) throw error
}
