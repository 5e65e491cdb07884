import * as z from 'zod'
import type { Clinic as ClinicRecord } from '../domain/clinic.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { defineRoute } from './route.ts'
import { envelopeOf, Timestamp, TimeZone, Uuid } from './schemas.ts'

/** A clinic as the API returns it. Only the operator changes it. */
const Clinic = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    address: z.string().nullable(),
    phone_number: z.string().nullable().meta({ description: 'In E.164 format.' }),
    email_address: z.string().nullable(),
    website: z.string().nullable(),
    timezone: TimeZone,
    currency: z.string().length(3).meta({ description: 'ISO 4217 currency code.' }),
    appointment_duration: z.int().meta({ description: 'The default length of an appointment in minutes.' }),
    created_at: Timestamp,
  })
  .meta({ id: 'Clinic' })

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
  created_at: clinicTimestamp(clinic.createdAt, clinic.timezone),
})

export const getClinic = defineRoute({
  id: 'get-clinic',
  method: 'GET',
  path: '/clinic',
  summary: 'Retrieve the clinic',
  description: 'The clinic that the credential gives access to.',
  scope: null,
  response: { status: 200, body: envelopeOf(Clinic) },
  errors: [],
  uses: { table: ['GetItem'] },
})
