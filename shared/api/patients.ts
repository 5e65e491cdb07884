import * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import { E164, fullName, GENDERS, type Patient as PatientRecord } from '../domain/patient.ts'
import { validPhoneNumber } from '../domain/phone-number.ts'
import { emailAddress, personName } from '../domain/text-fields.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { defineRoute } from './route.ts'
import { CalendarDate, envelopeOf, oneOf, pageOf, paging, Timestamp, text, Uuid } from './schemas.ts'

/** Spec section 2, Patient. */
export const Patient = z
  .strictObject({
    id: Uuid,
    full_name: z.string().meta({ description: 'The first name, a space, and the last name.' }),
    first_name: z.string(),
    last_name: z.string(),
    date_of_birth: CalendarDate.nullable(),
    gender: z.enum(GENDERS).nullable(),
    phone_number: z.string().nullable().meta({ description: 'E.164.' }),
    email_address: z.string().nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Patient' })

export const renderPatient = (patient: PatientRecord, clinic: ClinicInfo): z.input<typeof Patient> => ({
  id: patient.id,
  full_name: fullName(patient),
  first_name: patient.firstName,
  last_name: patient.lastName,
  date_of_birth: patient.dateOfBirth,
  gender: patient.gender,
  phone_number: patient.phoneNumber,
  email_address: patient.emailAddress,
  created_at: clinicTimestamp(patient.createdAt, clinic.timezone),
})

const Name = personName.meta({ maxLength: 100 })

const NewPatient = z
  .strictObject({
    first_name: Name,
    last_name: Name,
    // The endpoint says so, since only it knows the clinic's day.
    date_of_birth: CalendarDate.nullish().meta({ description: 'Not in the future.' }),
    gender: oneOf(GENDERS).nullish(),
    phone_number: validPhoneNumber
      .meta({ pattern: E164.source })
      .nullish()
      .meta({ description: "E.164, and a number that exists in its country's plan." }),
    email_address: emailAddress
      .meta({ maxLength: 254, pattern: String.raw`^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$` })
      .nullish(),
  })
  .meta({ id: 'NewPatient' })

export const createPatient = defineRoute({
  id: 'create-patient',
  method: 'POST',
  path: '/patients',
  summary: 'Enter a patient',
  description: 'Search finds it at once. Two patients may share a number or address: families do.',
  scope: 'patient.write',
  body: NewPatient,
  response: { status: 201, body: envelopeOf(Patient), location: '/patients' },
  errors: [],
  uses: { table: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'BatchWriteItem'], memory: 1024 },
})

export const listPatients = defineRoute({
  id: 'list-patients',
  method: 'GET',
  path: '/patients',
  summary: 'List or search the patients, last entered first',
  description:
    'An import enters in file order. `search` takes words or a number. Every word must occur, in any order, in the name, ' +
    "the phone's digits or the email; case, accents and letters such as `ı ß ł ø đ æ œ` do not matter. Digits and phone " +
    'punctuation alone, with at least three digits, are one run of digits of the phone number: `4567`, `+90 532 ...` and ' +
    '`0532...` find the same patient.',
  scope: 'patient.read',
  query: z.strictObject({ ...paging, search: text(200).optional() }),
  response: { status: 200, body: pageOf(Patient) },
  errors: [],
  // Search keeps the clinic's index in memory: about 60 MB for a million patients.
  uses: { table: ['GetItem', 'Query', 'BatchGetItem'], memory: 1024 },
})

export const getPatient = defineRoute({
  id: 'get-patient',
  method: 'GET',
  path: '/patients/{id}',
  summary: 'Read one patient',
  scope: 'patient.read',
  params: { id: 'patient_not_found' },
  response: { status: 200, body: envelopeOf(Patient) },
  errors: ['patient_not_found'],
  uses: { table: ['GetItem'] },
})
