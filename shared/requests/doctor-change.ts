import { renderDoctor } from '../api/doctors.ts'
import { ApiError, unknownIds } from '../api/errors.ts'
import { MAX_ACTIVE_DOCTORS } from '../domain/booking/doctor.ts'
import { type DoctorOutcome, type doctorChanges, UnknownDepartment } from '../store/copies/doctor-changes.ts'
import { TooManyActiveDoctors } from '../store/doctors.ts'
import type { WriteRequest } from './requested-write.ts'

type Doctors = ReturnType<typeof doctorChanges>

/** Writes a doctor. @throws ApiError if there is no such doctor, or the change is not possible */
export async function writeDoctor(
  doctors: Doctors,
  ...parameters: Parameters<Doctors['write']>
): Promise<DoctorOutcome> {
  const written = await doctors.write(...parameters).catch((error: Error) => {
    if (error instanceof UnknownDepartment) throw unknownIds('department_not_found', 'department_id')
    if (error instanceof TooManyActiveDoctors)
      throw new ApiError('validation', {
        details: [
          { field: 'is_active', issue: `must be false: the clinic has ${MAX_ACTIVE_DOCTORS} active doctors` },
        ],
      })
    throw error
  })
  if (!written) throw new ApiError('doctor_not_found')
  return written
}

type Request = Pick<WriteRequest, 'clinic' | 'credential' | 'write'>

/** Writes a doctor, and renders the response. */
export async function doctorResponse(
  { clinic, credential, write }: Request,
  doctors: Doctors,
  id: string,
  decide: Parameters<Doctors['write']>[2],
) {
  const response = ({ doctor, outside }: DoctorOutcome) => ({
    data: renderDoctor(doctor, credential),
    meta: { appointments_outside: outside },
  })
  return response(await writeDoctor(doctors, clinic, id, decide, write(response)))
}
