import * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import { E164, fullName, GENDERS, type Patient as PatientRecord } from '../domain/patients/patient.ts'
import { validPhoneNumber } from '../domain/patients/phone-number.ts'
import {
  emailAddress,
  externalId,
  languageTag,
  lastName,
  nationalId,
  notes,
  personName,
  text,
} from '../domain/patients/text-fields.ts'
import type { Scope } from '../domain/scope.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import type { Caller } from './account.ts'
import { recordListOf, recordListQuery } from './record-lists.ts'
import { defineRoute, type RecordReference } from './route.ts'
import {
  CalendarDate,
  envelopeOf,
  oneOf,
  queryBoolean,
  sentFields,
  Timestamp,
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
      accepts_sms: z.boolean(),
      accepts_email: z.boolean(),
      language: z.string().nullable(),
      external_id: z.string().nullable(),
      is_active: z.boolean(),
      created_at: Timestamp,
      updated_at: Timestamp,
      erased_at: Timestamp.nullable(),
    })
    .meta({ id: 'Patient' }),
)

/** The fields of requests. A function: the bundle of a function that only reads does not get the rules of phone numbers. */
export const patientFields = () => ({
  first_name: personName(),
  last_name: lastName()
    .nullable()
    .transform((name) => name ?? '')
    .optional(),
  // Checked by the endpoint, because the schema does not know the current date in the clinic's time zone.
  date_of_birth: CalendarDate.nullish(),
  gender: oneOf(GENDERS).nullish(),
  phone_number: validPhoneNumber().meta({ pattern: E164.source }).nullish(),
  email_address: emailAddress().nullish(),
  accepts_sms: z.boolean({ error: 'must be true or false' }).optional(),
  accepts_email: z.boolean({ error: 'must be true or false' }).optional(),
  language: languageTag().nullish(),
  national_id: nationalId().nullish(),
  notes: notes().nullish(),
  external_id: externalId().nullish(),
})

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
  accepts_sms: patient.acceptsSms,
  accepts_email: patient.acceptsEmail,
  language: patient.language,
  external_id: patient.externalId,
  is_active: patient.isActive,
  created_at: clinicTimestamp(patient.createdAt, clinic.timezone),
  updated_at: clinicTimestamp(patient.updatedAt, clinic.timezone),
  erased_at: patient.erasedAt && clinicTimestamp(patient.erasedAt, clinic.timezone),
})

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
    'only is matched against the digits of the phone number: `4567`, `+90 532 ...` and `0532...` find the same patient. The ' +
    'end of a very long name may not be searchable.\n\n`national_id` finds the patients who have exactly ' +
    'this one; it cannot be combined with `search` or `is_active`. `external_id` finds the one patient with this id, and is sent alone or ' +
    'with `limit`.',
  scope: 'patient.read',
  parameterScopes: { national_id: PRIVATE_SCOPE },
  query: recordListQuery({
    search: text(200).optional(),
    is_active: queryBoolean().optional(),
    national_id: nationalId().optional(),
    external_id: externalId().optional(),
  }).refine(({ national_id, search, is_active }) => !national_id || (search ?? is_active) === undefined, {
    path: ['national_id'],
    error: 'cannot be combined with search or is_active',
    when: whenValid('national_id', 'search', 'is_active'),
  }),
  response: { status: 200, body: recordListOf(Patient) },
  errors: ['invalid_cursor'],
  // Search holds the clinic's index in memory: about 60 MB for a million patients.
  uses: { memory: 1024 },
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
})

const PRIVATE = 'Absent unless the credential has the scope `patient.read.private`.'

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const patientDescriptions = () => ({
  PatientCreate: {
    first_name: 'First name, or the only one.',
    last_name: 'Last name. Empty or null for a person with one name.',
    date_of_birth: 'Date of birth. Must not be in the future.',
    gender: 'Gender.',
    phone_number: "Phone number in E.164 format. Must be valid in its country's numbering plan.",
    email_address:
      'Email address. Its local part must be ASCII. Its domain may be in Unicode or punycode, is stored in lower-case Unicode and sent in punycode, for which the limit holds, too.',
    accepts_sms: 'Whether SMS can be sent to the patient. True by default.',
    accepts_email: 'Whether emails can be sent to the patient. True by default.',
    language:
      'Language of the patient, as a BCP 47 tag that JavaScript knows: `Intl.getCanonicalLocales`. Stored in its canonical spelling, in which `pt-br` is `pt-BR`.',
    national_id:
      'National id: English letters, digits and hyphens, stored in upper case. Several patients may share one.',
    notes: 'Notes.',
    external_id:
      'Id in another system, unique among the patients of the clinic, imported ones included, and not the id of another one. Visible characters, with single spaces between them.',
  },
  Patient: {
    full_name: 'First name and last name, separated by a space; or the only name.',
    first_name: 'First name, or the only one.',
    last_name: 'Last name. Empty if the patient has one name.',
    date_of_birth: 'Date of birth. Null if it is not known.',
    gender: 'Gender. Null if none is stored.',
    accepts_sms: 'Whether SMS can be sent to the patient. False if the patient declined them.',
    accepts_email: 'Whether emails can be sent to the patient. False if the patient declined them.',
    language: 'Language of the patient, as a canonical BCP 47 tag such as `pt-BR`. Null if it is not known.',
    external_id: 'Id in another system, if a request or an import has set one. Null otherwise.',
    is_active: 'Whether appointments can be booked for, and messages sent to, the patient.',
    erased_at:
      "When the patient was erased, with all personal data and the texts of the patient's records. Null otherwise.",
    email: 'Email address of the patient. Null if none is stored.',
  },
  PatientDetails: {
    national_id: `National id. Null if none is stored. ${PRIVATE}`,
    notes: `Notes. Null if there are none. ${PRIVATE}`,
  },
  PatientReference: {
    national_id: `National id, if the request had one. ${PRIVATE}`,
    notes: `Notes, if the request had some. ${PRIVATE}`,
  },
})
