import * as z from 'zod'
import type { Doctor as DoctorRecord } from '../domain/booking/doctor.ts'
import type { ClinicInfo } from '../domain/clinic.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import { defineRoute } from './route.ts'
import { activePaging, envelopeOf, pageOf, Timestamp, Uuid } from './schemas.ts'

export const Doctor = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      full_name: z.string(),
      specialty: z.string().nullable(),
      department_id: Uuid.nullable(),
      is_active: z.boolean(),
      updated_at: Timestamp,
    })
    .meta({ id: 'Doctor' }),
)

export const renderDoctor = (
  doctor: WithUpdatedAt<DoctorRecord>,
  clinic: ClinicInfo,
): z.input<typeof Doctor> => ({
  id: doctor.id,
  full_name: doctor.fullName,
  specialty: doctor.specialty,
  department_id: doctor.departmentId,
  is_active: doctor.isActive,
  updated_at: clinicTimestamp(doctor.updatedAt, clinic.timezone),
})

export const listDoctors = defineRoute({
  id: 'list-doctors',
  method: 'GET',
  path: '/doctors',
  summary: 'List doctors',
  description: 'Sorted by name. Includes inactive doctors by default.',
  scope: 'appointment.read.availability',
  query: z.strictObject(activePaging()),
  response: { status: 200, body: pageOf(Doctor) },
  errors: [],
  uses: { table: { Query: ['doctors'] } },
})

export const getDoctor = defineRoute({
  id: 'get-doctor',
  method: 'GET',
  path: '/doctors/{id}',
  summary: 'Retrieve a doctor',
  scope: 'appointment.read.availability',
  params: { id: 'doctor_not_found' },
  response: { status: 200, body: envelopeOf(Doctor), record: {} },
  errors: ['doctor_not_found'],
  uses: { table: { GetItem: ['doctors'] } },
})

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const doctorDescriptions = () => ({
  Doctor: {
    id: 'Id of the doctor: the `doctor_id` of requests.',
    specialty: 'Medical specialty. Null if none is stored.',
    is_active: 'Whether the doctor can be booked.',
    updated_at: 'When the doctor, working hours included, was last changed.',
  },
})
