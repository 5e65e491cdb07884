import { getDoctor, renderDoctor } from '../shared/api/doctors.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { doctorStore } from '../shared/store/doctors.ts'

export const handler = endpoint(
  getDoctor,
  { doctors: doctorStore },
  async ({ clinicId, credential, path }, { doctors }) => {
    const found = await doctors.find(clinicId, path.id)
    return found && { data: renderDoctor(found, credential) }
  },
)
