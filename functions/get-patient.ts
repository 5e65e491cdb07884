import { getPatient, renderPatientDetails } from '../shared/api/patients.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientStore } from '../shared/store/patients/patients.ts'

export const handler = endpoint(
  getPatient,
  { patients: patientStore },
  async ({ clinicId, credential, path }, { patients }) => {
    const patient = await patients.find(clinicId, path.id) // another clinic's patient is not found
    return patient && { data: renderPatientDetails(patient, credential) }
  },
)
