/** Removes an erased patient from the search log and from the responses that are stored for repeated requests. */
import type { ClinicId } from '../../domain/clinic.ts'
import { storedResponsesPartition } from '../keys/idempotency.ts'
import { patientChangesPartition } from '../keys/patients.ts'
import type { StoredPatient } from '../patients/patients.ts'
import { patientSearchLine } from '../patients/search-lines.ts'
import { ConditionFailed } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'

/** Replaces the lines of earlier names in the change log. */
export async function anonymizeLines(table: Table, clinic: ClinicId, patient: StoredPatient): Promise<void> {
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
export async function anonymizeResponses(
  table: Table,
  clinic: ClinicId,
  id: string,
  anonymizeResponse: (body: string) => string,
): Promise<void> {
  const responses = await table.query({ pk: storedResponsesPartition(clinic), limit: 1_000_000 })
  for (const response of responses.filter(({ p }) => p === id)) {
    const { pk, sk } = response
    let read: Item | undefined = response
    // After it expired, the key may have been used for another patient, whose response must not be changed.
    while (read?.p === id && !(await replaceBody(table, read, anonymizeResponse)))
      read = await table.get({ pk, sk })
  }
}

/** False when the response is no longer as it was read. */
async function replaceBody(
  table: Table,
  read: Item,
  anonymizeResponse: (body: string) => string,
): Promise<boolean> {
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

function ignoreFailedCondition(error: unknown): void {
  if (!(error instanceof ConditionFailed)) throw error
}
