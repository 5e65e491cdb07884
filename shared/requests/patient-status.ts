import { renderPatientDetails } from '../api/patients.ts'
import type { Patient } from '../domain/patients/patient.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import type { patientUpdates } from '../store/patients/patient-updates.ts'
import type { WriteRequest } from './requested-write.ts'

type Patients = Pick<ReturnType<typeof patientUpdates>, 'update'>

/** Makes the patient of a request active or inactive, and returns the response; null for an unknown patient. */
export async function setPatientActive(
  { clinicId, credential, path, write }: Pick<WriteRequest, 'clinicId' | 'credential' | 'path' | 'write'>,
  patients: Patients,
  isActive: boolean,
) {
  const response = (patient: WithUpdatedAt<Patient>) => ({ data: renderPatientDetails(patient, credential) })
  const changed = await patients.update(clinicId, path.id, { isActive }, write(response))
  return changed && response(changed)
}
