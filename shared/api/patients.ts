import * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import { fullName, GENDERS, type Patient as PatientRecord } from '../domain/patient.ts'
import type { Stamped } from '../domain/stamped.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { recordListOf, recordListQuery } from './record-lists.ts'
import { defineRoute } from './route.ts'
import { CalendarDate, envelopeOf, Timestamp, text, UpdatedAt, Uuid } from './schemas.ts'

/** A patient as the API returns it. */
export const Patient = z
  .strictObject({
    id: Uuid,
    full_name: z.string().meta({ description: 'First name and last name, separated by a space.' }),
    first_name: z.string(),
    last_name: z.string(),
    date_of_birth: CalendarDate.nullable(),
    gender: z.enum(GENDERS).nullable(),
    phone_number: z.string().nullable().meta({ description: 'In E.164 format.' }),
    email_address: z.string().nullable(),
    created_at: Timestamp,
    updated_at: UpdatedAt,
    erased_at: Timestamp.nullable().meta({
      description:
        'When the patient was erased: the personal data of the patient, and all texts of the records, are gone. Else null.',
    }),
  })
  .meta({ id: 'Patient' })

export const renderPatient = (
  patient: Stamped<PatientRecord>,
  clinic: ClinicInfo,
): z.input<typeof Patient> => ({
  id: patient.id,
  full_name: fullName(patient),
  first_name: patient.firstName,
  last_name: patient.lastName,
  date_of_birth: patient.dateOfBirth,
  gender: patient.gender,
  phone_number: patient.phoneNumber,
  email_address: patient.emailAddress,
  created_at: clinicTimestamp(patient.createdAt, clinic.timezone),
  updated_at: clinicTimestamp(patient.updatedAt, clinic.timezone),
  erased_at: patient.erasedAt && clinicTimestamp(patient.erasedAt, clinic.timezone),
})

export const listPatients = defineRoute({
  id: 'list-patients',
  method: 'GET',
  path: '/patients',
  summary: 'List patients',
  description:
    'Lists or searches patients, most recently added first. An import adds patients in file order. `search` takes words or a ' +
    'number. Each word must occur, in any order, in the name, the digits of the phone number or the email address; case, ' +
    'accents and letter variants such as `ı ß ł ø đ æ œ` are ignored. A query of at least three digits with phone punctuation ' +
    'only is matched against the digits of the phone number: `4567`, `+90 532 ...` and `0532...` find the same patient. Of a ' +
    'name of more than 189 bytes of UTF-8, the end may not be searchable.',
  scope: 'patient.read',
  query: recordListQuery({ search: text(200).optional() }),
  response: { status: 200, body: recordListOf(Patient) },
  errors: ['invalid_cursor'],
  // Search holds the clinic's index in memory: about 60 MB for a million patients.
  uses: { table: ['GetItem', 'Query', 'BatchGetItem'], memory: 1024 },
})

export const getPatient = defineRoute({
  id: 'get-patient',
  method: 'GET',
  path: '/patients/{id}',
  summary: 'Retrieve a patient',
  scope: 'patient.read',
  params: { id: 'patient_not_found' },
  response: { status: 200, body: envelopeOf(Patient) },
  errors: ['patient_not_found'],
  uses: { table: ['GetItem'] },
})
