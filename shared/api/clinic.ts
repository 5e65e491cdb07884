import * as z from 'zod'
import type { Clinic as ClinicRecord } from '../domain/clinic.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { defineRoute } from './route.ts'
import { envelopeOf, Timestamp, Uuid } from './schemas.ts'

/** A clinic as the API returns it. Only the operator changes it. */
const Clinic = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      name: z.string(),
      address: z.string().nullable(),
      phone_number: z.string().nullable(),
      email_address: z.string().nullable(),
      website: z.string().nullable(),
      timezone: z.string(),
      currency: z.string().length(3),
      appointment_duration: z.int(),
      is_test: z.boolean(),
      created_at: Timestamp,
    })
    .meta({ id: 'Clinic' }),
)

export const renderClinic = (clinic: ClinicRecord): z.input<typeof Clinic> => ({
  id: clinic.id,
  name: clinic.name,
  address: clinic.address ?? null,
  phone_number: clinic.phoneNumber ?? null,
  email_address: clinic.emailAddress ?? null,
  website: clinic.website ?? null,
  timezone: clinic.timezone,
  currency: clinic.currency,
  appointment_duration: clinic.appointmentMinutes,
  is_test: clinic.isTest ?? false,
  created_at: clinicTimestamp(clinic.createdAt, clinic.timezone),
})

export const getClinic = defineRoute({
  id: 'get-clinic',
  method: 'GET',
  path: '/clinic',
  summary: 'Retrieve the clinic',
  description: 'The clinic that the credential gives access to.',
  scope: null,
  response: { status: 200, body: envelopeOf(Clinic), record: {} },
  errors: [],
})
