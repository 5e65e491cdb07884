import type { Caller } from '../api/account.ts'
import { ApiError } from '../api/errors.ts'
import { renderPatientDetails } from '../api/patients.ts'
import type { ClinicId } from '../domain/clinic.ts'
import type { Patient } from '../domain/patients/patient.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import type { IdempotencyGuard, ResponseToStore, StoredResponse } from '../store/table/idempotency.ts'
import { patientResponse } from './patient-response.ts'

type Request = {
  readonly clinicId: ClinicId
  readonly credential: Caller
  readonly path: { readonly id: string }
  readonly checkIfMatch: <T extends object>(current: T, response: (current: T) => { data: object }) => void
  readonly reportUnchanged: (after: object) => void
  readonly idempotency: IdempotencyGuard
}

type Patients = {
  readonly update: (
    clinic: ClinicId,
    id: string,
    newFields: (before: WithUpdatedAt<Patient>) => Pick<Patient, 'isActive'>,
    store: ResponseToStore<WithUpdatedAt<Patient>>,
  ) => Promise<StoredResponse | WithUpdatedAt<Patient> | null>
}

/** Makes the patient of a request active or inactive, and returns the response. @throws ApiError for an unknown patient */
export async function setPatientActive(
  { clinicId, credential, path, checkIfMatch, reportUnchanged, idempotency }: Request,
  patients: Patients,
  isActive: boolean,
) {
  const response = (patient: WithUpdatedAt<Patient>) => ({ data: renderPatientDetails(patient, credential) })
  const newFields = (before: WithUpdatedAt<Patient>) => {
    checkIfMatch(before, response)
    return { isActive }
  }
  const changed = await patients.update(clinicId, path.id, newFields, { idempotency, status: 200, response })
  if (!changed) throw new ApiError('patient_not_found')
  reportUnchanged(changed)
  return patientResponse(changed, credential)
}
