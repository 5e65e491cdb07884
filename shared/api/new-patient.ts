/** Creating and updating a patient. Apart from the other routes of patients: the rules of phone numbers are a quarter of a bundle. */
import * as z from 'zod'
import type { WallClock } from '../domain/clock.ts'
import { E164, GENDERS, NATIONAL_ID } from '../domain/patients/patient.ts'
import { validPhoneNumber } from '../domain/patients/phone-number.ts'
import { emailAddress, lastName, nationalId, notes, personName } from '../domain/patients/text-fields.ts'
import { APPOINTMENT_ITEMS, INVOICE_ITEMS, MESSAGE_ITEMS, PAYMENT_ITEMS } from '../store/keys/families.ts'
import { ApiError } from './errors.ts'
import { OnePatient, patientRecord } from './patients.ts'
import { defineRoute, mergeCalls, type TableCalls } from './route.ts'
import { CalendarDate, newExternalId, oneOf } from './schemas.ts'

/** The calls that write a new or changed patient. They rewrite the search index from time to time. */
const PATIENT_CALLS = {
  GetItem: ['patients', 'patient-head', 'national-id-secret', 'external-ids', 'external-id-secret'],
  Query: ['patient-list', 'patient-search', 'patient-search-changes'],
  ConditionCheckItem: ['patients'],
  PutItem: [
    'patients',
    'patient-list',
    'patient-changes',
    'national-ids',
    'national-id-secret',
    'external-ids',
    'announced-events',
  ],
  UpdateItem: ['patient-head', 'patient-search'],
  BatchWriteItem: ['patient-search-changes'],
} as const satisfies TableCalls

const FirstName = personName().meta({ maxLength: 100 })

const fields = {
  first_name: FirstName,
  last_name: lastName()
    .meta({ maxLength: 100 })
    .nullable()
    .transform((name) => name ?? '')
    .optional(),
  // Checked by the endpoint, because the schema does not know the current date in the clinic's time zone.
  date_of_birth: CalendarDate.nullish(),
  gender: oneOf(GENDERS).nullish(),
  phone_number: validPhoneNumber.meta({ pattern: E164.source }).nullish(),
  email_address: emailAddress()
    .meta({ maxLength: 254, pattern: String.raw`^[^\s@]{1,64}@([^\s@.]{1,63}\.)+[^\s@.]{1,63}$` })
    .nullish(),
  national_id: nationalId().meta({ maxLength: 32, pattern: NATIONAL_ID.source }).nullish(),
  notes: notes().meta({ maxLength: 2000 }).nullish(),
  external_id: newExternalId().nullish(),
}

const NewPatient = z.strictObject(fields).meta({ id: 'NewPatient' })

const PatientChanges = z
  .strictObject({ ...fields, first_name: FirstName.optional() })
  .meta({ id: 'PatientChanges' })

/** @throws ApiError if the date of birth is after the current date in the clinic's time zone */
export function checkDateOfBirth(
  { date_of_birth: date }: Pick<z.output<typeof NewPatient>, 'date_of_birth'>,
  clock: WallClock,
): void {
  if (!date || date <= clock.date) return
  throw new ApiError('validation', {
    details: [{ field: 'date_of_birth', issue: 'must not be in the future' }],
  })
}

export const createPatient = defineRoute({
  id: 'create-patient',
  method: 'POST',
  path: '/patients',
  summary: 'Create a patient',
  description:
    'Search finds the patient immediately. Several patients may share a phone number or an email address, as families do.',
  scope: 'patient.write',
  readScope: 'patient.read',
  body: NewPatient,
  response: { status: 201, body: OnePatient, record: patientRecord, location: '/patients' },
  errors: ['external_id_taken'],
  uses: { table: PATIENT_CALLS, memory: 1024 },
})

export const updatePatient = defineRoute({
  id: 'update-patient',
  method: 'PATCH',
  path: '/patients/{id}',
  summary: 'Update a patient',
  description:
    'Changes only the fields that are sent; null clears an optional one. Search finds the new values immediately. A new name ' +
    'appears in the records of the patient shortly afterwards.',
  scope: 'patient.write',
  readScope: 'patient.read',
  params: { id: 'patient_not_found' },
  body: PatientChanges,
  response: { status: 200, body: OnePatient, record: patientRecord },
  errors: ['patient_not_found', 'precondition_failed', 'external_id_taken'],
  uses: {
    // The records of the patient have copies of the name.
    table: mergeCalls(PATIENT_CALLS, {
      GetItem: ['stale-copies', 'appointments', 'invoices', 'payments', 'messages'],
      BatchGetItem: ['appointments', 'invoices', 'payments', 'messages'],
      Query: [
        'appointments-of-patients',
        'invoices-of-patients',
        'payments-of-patients',
        'messages-of-patients',
      ],
      ConditionCheckItem: ['external-ids'],
      PutItem: [
        'patient-search-changes',
        'former-external-ids',
        'due-refreshes',
        ...APPOINTMENT_ITEMS,
        ...INVOICE_ITEMS,
        ...PAYMENT_ITEMS,
        ...MESSAGE_ITEMS,
      ],
      UpdateItem: ['stale-copies'],
      DeleteItem: ['patient-changes', 'national-ids', 'external-ids', 'stale-copies', 'due-refreshes'],
    }),
    memory: 1024,
  },
})
