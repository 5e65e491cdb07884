import { getDoctor, renderDoctor } from '../shared/api/doctors.ts'
import { ApiError } from '../shared/api/errors.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { doctorStore } from '../shared/store/doctors.ts'

export const handler = endpoint(
  getDoctor,
  { doctors: doctorStore },
  async ({ clinicId, credential, path }, { doctors }) => {
    const found = await doctors.find(clinicId, path.id)
    if (!found) throw new ApiError('doctor_not_found')
    return { data: renderDoctor(found, credential) }
  },
)
