import * as z from 'zod'
import type { ClinicFacts } from '../domain/clinic.ts'
import { fullName, GENDERS, type Patient as PatientRecord } from '../domain/patient.ts'
import { validPhoneNumber } from '../domain/phone-number.ts'
import { emailAddress, personName } from '../domain/text-fields.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { defineRoute } from './route.ts'
import { CalendarDate, one, oneOf, pageOf, paging, Timestamp, text, Uuid } from './schemas.ts'

/** Spec section 2, Patient. */
export const Patient = z
  .strictObject({
    id: Uuid,
    full_name: z.string(),
    first_name: z.string(),
    last_name: z.string(),
    date_of_birth: CalendarDate.nullable(),
    gender: z.enum(GENDERS).nullable(),
    phone_number: z.string().nullable(),
    email_address: z.string().nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Patient' })

export const renderPatient = (patient: PatientRecord, clinic: ClinicFacts): z.input<typeof Patient> => ({
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

const NewPatient = z.strictObject({
  first_name: personName,
  last_name: personName,
  // Not in the future: the endpoint says so, since only it knows the clinic's day.
  date_of_birth: CalendarDate.nullish(),
  gender: oneOf(GENDERS).nullish(),
  phone_number: validPhoneNumber.nullish(),
  email_address: emailAddress.nullish(),
})

export const createPatient = defineRoute({
  id: 'create-patient',
  method: 'POST',
  path: '/patients',
  summary: 'Enter a patient',
  scope: 'patient.write',
  body: NewPatient,
  response: { status: 201, body: one(Patient), location: '/patients' },
  errors: [],
  uses: { table: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'BatchWriteItem'], memory: 1024 },
})

export const listPatients = defineRoute({
  id: 'list-patients',
  method: 'GET',
  path: '/patients',
  summary: 'List or search the patients, last entered first',
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
  response: { status: 200, body: one(Patient) },
  errors: ['patient_not_found'],
  uses: { table: ['GetItem'] },
})
