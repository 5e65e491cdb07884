import type { Caller } from '../api/account.ts'
import { readablePatient, renderPatientDetails } from '../api/patients.ts'
import type { Patient } from '../domain/patients/patient.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import { StoredResponse } from '../store/table/idempotency.ts'

/** The response to a change of a patient: of this request, or the stored one of an earlier request with the same key. */
export const patientResponse = (changed: WithUpdatedAt<Patient> | StoredResponse, caller: Caller) =>
  changed instanceof StoredResponse
    ? new StoredResponse(changed.status, readablePatient(changed.body, caller))
    : { data: renderPatientDetails(changed, caller) }
