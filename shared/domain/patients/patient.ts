import { eraseTo, type FieldPolicies, KEEP, KEEP_SILENTLY } from '../field-policy.ts'

export const GENDERS = ['male', 'female', 'other', 'unknown'] as const
export type Gender = (typeof GENDERS)[number]

/** A patient of one clinic. Optional fields are null, never absent. */
export type Patient = {
  readonly id: string
  readonly firstName: string
  /** Empty if the patient has one name. */
  readonly lastName: string
  /** `Y-m-d` */
  readonly dateOfBirth: string | null
  readonly gender: Gender | null
  /** E.164, `+905321234567` */
  readonly phoneNumber: string | null
  readonly emailAddress: string | null
  /** Whether appointments and messages are possible. An inactive patient is still listed and found. */
  readonly isActive: boolean
  readonly acceptsSms: boolean
  readonly acceptsEmail: boolean
  /** A BCP 47 tag in its canonical spelling, `pt-BR` */
  readonly language: string | null
  /** {@link NATIONAL_ID}. Set only in records: in list rows, it is null. */
  readonly nationalId: string | null
  /** Set only in records: in list rows, it is null. */
  readonly notes: string | null
  /** The id in another system of the clinic or of an integrator; unique in the clinic. */
  readonly externalId: string | null
  /** ISO 8601 instant in UTC. */
  readonly createdAt: string
  /** When the patient was erased: anonymized permanently, under the right to erasure. An ISO 8601 instant; else null. */
  readonly erasedAt: string | null
}

/** The fields that a patient may have no value for. */
type OptionalFields = {
  readonly [Name in keyof Patient as null extends Patient[Name] ? Name : never]: null
}

/** An active patient who accepts messages, without a value for any optional field, for records that set only some of them. */
export const NO_DETAILS: OptionalFields & Pick<Patient, 'isActive' | 'acceptsSms' | 'acceptsEmail'> = {
  isActive: true,
  acceptsSms: true,
  acceptsEmail: true,
  language: null,
  dateOfBirth: null,
  gender: null,
  phoneNumber: null,
  emailAddress: null,
  nationalId: null,
  notes: null,
  externalId: null,
  erasedAt: null,
}

export const fullName = (person: Pick<Patient, 'firstName' | 'lastName'>): string =>
  `${person.firstName} ${person.lastName}`.trim()

/** E.164: a plus, a country code that is not 0, at most 15 digits in all. */
export const E164 = /^\+[1-9]\d{6,14}$/

/** An id that a state gave the patient: letters, digits and hyphens. */
export const NATIONAL_ID = /^[A-Za-z0-9-]{1,32}$/

/** The form of a BCP 47 tag. Every registered language has two or three letters. */
export const LANGUAGE_TAG = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/

const ERASED_NAME = { firstName: 'Erased', lastName: 'Patient' } as const

/** The full name of every erased patient. */
export const ERASED_FULL_NAME = fullName(ERASED_NAME)

/** An erased patient keeps a place in lists and totals, and no personal data. */
export const PATIENT_FIELDS = {
  id: KEEP,
  firstName: eraseTo(ERASED_NAME.firstName),
  lastName: eraseTo(ERASED_NAME.lastName),
  dateOfBirth: eraseTo(null),
  gender: eraseTo(null),
  phoneNumber: eraseTo(null),
  emailAddress: eraseTo(null),
  isActive: KEEP,
  acceptsSms: eraseTo(false),
  acceptsEmail: eraseTo(false),
  language: eraseTo(null),
  nationalId: eraseTo(null),
  notes: eraseTo(null),
  externalId: eraseTo(null),
  createdAt: KEEP_SILENTLY,
  erasedAt: KEEP,
} satisfies FieldPolicies<Patient>
