/** Removes an erased patient from the search log and from the responses that are stored for repeated requests. */
import type { ClinicId } from '../../domain/clinic.ts'
import { storedResponsesPartition } from '../keys/idempotency.ts'
import { patientChangesPartition } from '../keys/patients.ts'
import type { StoredPatient } from '../patients/patients.ts'
import { patientSearchLine } from '../patients/search-lines.ts'
import { ifConditionHolds } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'

/** Replaces the lines of earlier names in the change log. */
export async function anonymizeLines(table: Table, clinic: ClinicId, patient: StoredPatient): Promise<void> {
  const log = await table.query({ pk: patientChangesPartition(clinic), limit: 100_000 })
  const line = patientSearchLine(patient)
  for (const old of log.filter(({ o }) => o === patient.ordinal)) {
    // A snapshot may have deleted the entry since.
    const update = table.update(old, {
      UpdateExpression: 'SET line = :line',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':line': line },
    })
    await ifConditionHolds(update)
  }
}

/**
 * Empties the stored responses that `isConcerned` selects, such as those about a patient, and removes the hashes of their requests,
 * which would confirm a guess of what was sent. Their idempotency keys stay used.
 */
export async function emptyResponses(
  table: Table,
  clinic: ClinicId,
  isConcerned: (response: Item) => boolean,
): Promise<void> {
  const responses = await table.query({ pk: storedResponsesPartition(clinic), limit: 1_000_000 })
  for (const response of responses.filter(isConcerned)) {
    const update = table.update(response, {
      UpdateExpression: 'SET #body = :empty REMOVE #hash',
      // After it expired, the key may have been used for another patient, whose response must not be changed.
      ConditionExpression: 'p = :patient',
      ExpressionAttributeNames: { '#body': 'body', '#hash': 'hash' },
      ExpressionAttributeValues: { ':empty': '', ':patient': response.p },
    })
    await ifConditionHolds(update)
  }
}
