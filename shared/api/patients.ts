import * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import { fullName, GENDERS, NATIONAL_ID, type Patient as PatientRecord } from '../domain/patients/patient.ts'
import { nationalId } from '../domain/patients/text-fields.ts'
import type { Scope } from '../domain/scope.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import type { Caller } from './account.ts'
import { recordListOf, recordListQuery } from './record-lists.ts'
import { defineRoute, type RecordReference } from './route.ts'
import {
  CalendarDate,
  envelopeOf,
  newExternalId,
  oneOf,
  queryBoolean,
  sentFields,
  Timestamp,
  text,
  Uuid,
  whenValid,
} from './schemas.ts'

const PRIVATE_SCOPE = 'patient.read.private' satisfies Scope

/** A patient as lists show it. */
export const Patient = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      full_name: z.string(),
      first_name: z.string(),
      last_name: z.string(),
      date_of_birth: CalendarDate.nullable(),
      gender: z.enum(GENDERS).nullable(),
      phone_number: z.string().nullable(),
      email_address: z.string().nullable(),
      external_id: z.string().nullable(),
      is_active: z.boolean(),
      created_at: Timestamp,
      updated_at: Timestamp,
      erased_at: Timestamp.nullable(),
    })
    .meta({ id: 'Patient' }),
)

/** A query parameter of endpoints that return records of patients, and the scope that it requires. */
export const expandPatient = {
  parameters: () => ({ expand: oneOf(['patient']).optional() }),
  scopes: { expand: 'patient.read' },
} as const

/** A patient as single-record responses show it. */
export const PatientDetails = z.lazy(() =>
  z
    .strictObject({
      ...Patient.unwrap().shape,
      national_id: z.string().nullable().optional(),
      notes: z.string().nullable().optional(),
    })
    .meta({ id: 'PatientDetails' }),
)

export const renderPatient = (
  patient: WithUpdatedAt<PatientRecord>,
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
  external_id: patient.externalId,
  is_active: patient.isActive,
  created_at: clinicTimestamp(patient.createdAt, clinic.timezone),
  updated_at: clinicTimestamp(patient.updatedAt, clinic.timezone),
  erased_at: patient.erasedAt && clinicTimestamp(patient.erasedAt, clinic.timezone),
})

/** The envelope of one patient. */
export const OnePatient = envelopeOf(PatientDetails)

const IN_REFERENCES = {
  id: true,
  is_active: true,
  created_at: true,
  updated_at: true,
  erased_at: true,
} as const

/** What the response to a change contains for a credential that may not read patients. */
export const patientReference: RecordReference = {
  schema: z.lazy(() =>
    z
      .strictObject(PatientDetails.unwrap().omit({ full_name: true }).partial().required(IN_REFERENCES).shape)
      .meta({
        id: 'PatientReference',
        description: 'Without `patient.read`, of the optional fields only those that the request had.',
      }),
  ),
  of: (patient, sent) => sentFields(patient, sent, Object.keys(IN_REFERENCES)),
}

/** The patient with the fields that the credential may read. */
export const renderPatientDetails = (
  patient: WithUpdatedAt<PatientRecord>,
  { clinic, scopes }: Pick<Caller, 'clinic' | 'scopes'>,
): z.input<typeof PatientDetails> => ({
  ...renderPatient(patient, clinic),
  ...(scopes.includes(PRIVATE_SCOPE) && { national_id: patient.nationalId, notes: patient.notes }),
})

/** A patient as the response to a change. */
export const patientRecord = {
  reference: patientReference,
  fieldScopes: { national_id: PRIVATE_SCOPE, notes: PRIVATE_SCOPE },
} as const

export const listPatients = defineRoute({
  id: 'list-patients',
  method: 'GET',
  path: '/patients',
  summary: 'List patients',
  description:
    'Lists or searches patients, most recently added first. An import adds patients in file order. `search` takes words or a ' +
    'number. Each word must occur, in any order, in the name, the digits of the phone number or the email address; case, ' +
    'accents, apostrophes and letter variants such as `ı ß ł ø đ æ œ` make no difference, and `Kaya, Ada` finds Ada Kaya. A query of at least three digits with phone punctuation ' +
    'only is matched against the digits of the phone number: `4567`, `+90 532 ...` and `0532...` find the same patient. Of a ' +
    'name of more than 189 bytes of UTF-8, the end may not be searchable.\n\n`national_id` finds the patients who have exactly ' +
    'this one; it cannot be combined with `search` or `is_active`. `external_id` finds the one patient with this id, and is sent alone or ' +
    'with `limit`.',
  scope: 'patient.read',
  parameterScopes: { national_id: PRIVATE_SCOPE },
  query: recordListQuery({
    search: text(200).optional(),
    is_active: queryBoolean().optional(),
    national_id: nationalId().meta({ maxLength: 32, pattern: NATIONAL_ID.source }).optional(),
    external_id: newExternalId().optional(),
  }).refine(({ national_id, search, is_active }) => !national_id || (search ?? is_active) === undefined, {
    path: ['national_id'],
    error: 'cannot be combined with search or is_active',
    when: whenValid('national_id', 'search', 'is_active'),
  }),
  response: { status: 200, body: recordListOf(Patient) },
  errors: ['invalid_cursor'],
  // Search holds the clinic's index in memory: about 60 MB for a million patients.
  uses: {
    table: {
      GetItem: ['patients', 'patient-head', 'national-id-secret', 'external-ids', 'external-id-secret'],
      BatchGetItem: ['patients', 'patient-list'],
      Query: [
        'patient-list',
        'patient-search',
        'patient-search-changes',
        'patient-changes',
        'inactive-patients',
        'national-ids',
      ],
    },
    memory: 1024,
  },
})

export const getPatient = defineRoute({
  id: 'get-patient',
  method: 'GET',
  path: '/patients/{id}',
  summary: 'Retrieve a patient',
  scope: 'patient.read',
  params: { id: 'patient_not_found' },
  response: { status: 200, body: OnePatient, record: {} },
  errors: ['patient_not_found'],
  uses: { table: { GetItem: ['patients'] } },
})
