import type { Caller } from '../api/account.ts'
import { renderPatientDetails } from '../api/patients.ts'
import type { ClinicId } from '../domain/clinic.ts'
import type { Patient } from '../domain/patients/patient.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import type { RequestedWrite } from '../store/table/idempotency.ts'
import type { BeginWrite } from './requested-write.ts'

type Request = {
  readonly clinicId: ClinicId
  readonly credential: Caller
  readonly path: { readonly id: string }
  readonly write: BeginWrite
}

type Patients = {
  readonly update: (
    clinic: ClinicId,
    id: string,
    fields: Pick<Patient, 'isActive'>,
    write: RequestedWrite<WithUpdatedAt<Patient>>,
  ) => Promise<WithUpdatedAt<Patient> | null>
}

/** Makes the patient of a request active or inactive, and returns the response; null for an unknown patient. */
export async function setPatientActive(
  { clinicId, credential, path, write }: Request,
  patients: Patients,
  isActive: boolean,
) {
  const response = (patient: WithUpdatedAt<Patient>) => ({ data: renderPatientDetails(patient, credential) })
  const changed = await patients.update(clinicId, path.id, { isActive }, write(response))
  return changed && response(changed)
}
