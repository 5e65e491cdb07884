/** Stored responses of erased patients: the policy of each wire field. */
import type * as z from 'zod'
import { APPOINTMENT_FIELDS, PATIENT_REFERENCE_FIELDS } from '../domain/booking/appointment.ts'
import { eraseFields, eraseTo, type FieldPolicies, KEEP } from '../domain/field-policy.ts'
import { MESSAGE_FIELDS } from '../domain/messages/message.ts'
import { ERASED_FULL_NAME, PATIENT_FIELDS } from '../domain/patients/patient.ts'
import type { Appointment } from './appointments.ts'
import type { sendMessage } from './new-message.ts'
import type { Patient, PatientDetails } from './patients.ts'
import type { PersonRef } from './schemas.ts'

/** Each field of a body follows the policy of the field that it renders. */
const PATIENT_REFERENCE_BODY = {
  id: KEEP,
  full_name: PATIENT_REFERENCE_FIELDS.fullName,
} satisfies FieldPolicies<z.input<typeof PersonRef>>

export const PATIENT_BODY = {
  id: KEEP,
  full_name: eraseTo(ERASED_FULL_NAME),
  first_name: PATIENT_FIELDS.firstName,
  last_name: PATIENT_FIELDS.lastName,
  date_of_birth: PATIENT_FIELDS.dateOfBirth,
  gender: PATIENT_FIELDS.gender,
  phone_number: PATIENT_FIELDS.phoneNumber,
  email_address: PATIENT_FIELDS.emailAddress,
  is_active: PATIENT_FIELDS.isActive,
  created_at: PATIENT_FIELDS.createdAt,
  updated_at: KEEP,
  erased_at: PATIENT_FIELDS.erasedAt,
} satisfies FieldPolicies<z.input<typeof Patient>>

/** A response to a credential that may read the private fields. */
export const PRIVATE_PATIENT_BODY = {
  ...PATIENT_BODY,
  national_id: PATIENT_FIELDS.nationalId,
  notes: PATIENT_FIELDS.notes,
} satisfies FieldPolicies<z.input<typeof PatientDetails>>

export const APPOINTMENT_BODY = {
  id: KEEP,
  patient: { fields: PATIENT_REFERENCE_BODY },
  doctor: { fields: { id: KEEP, full_name: APPOINTMENT_FIELDS.doctor.fields.fullName } },
  appointment_date: APPOINTMENT_FIELDS.date,
  start_time: APPOINTMENT_FIELDS.startTime,
  end_time: APPOINTMENT_FIELDS.endTime,
  status: APPOINTMENT_FIELDS.status,
  notes: APPOINTMENT_FIELDS.notes,
  treatments: APPOINTMENT_FIELDS.treatments,
  room: APPOINTMENT_FIELDS.room,
  confirmed_at: APPOINTMENT_FIELDS.confirmedAt,
  checked_in_at: APPOINTMENT_FIELDS.checkedInAt,
  cancelled_at: APPOINTMENT_FIELDS.cancelledAt,
  cancellation_reason: APPOINTMENT_FIELDS.cancellationReason,
  created_at: APPOINTMENT_FIELDS.createdAt,
  updated_at: KEEP,
} satisfies FieldPolicies<z.input<typeof Appointment>>

type AcceptedMessage = z.input<(typeof sendMessage)['response']['body']>['data']
export type AcceptedSms = Extract<AcceptedMessage, { readonly id: string }>
export type AcceptedEmail = Exclude<AcceptedMessage, AcceptedSms>

export const ACCEPTED_SMS_BODY = {
  id: KEEP,
  channel: MESSAGE_FIELDS.channel,
  status: MESSAGE_FIELDS.status,
  recipient: MESSAGE_FIELDS.recipient,
} satisfies FieldPolicies<AcceptedSms>

export const ACCEPTED_EMAIL_BODY = {
  channel: MESSAGE_FIELDS.channel,
  recipient: MESSAGE_FIELDS.recipient,
  status: MESSAGE_FIELDS.status,
  patient: { fields: PATIENT_REFERENCE_BODY },
} satisfies FieldPolicies<AcceptedEmail>

/** Anonymizes the JSON body of a stored response whose patient is erased. Ids, times and statuses stay. */
export function anonymizeResponse(body: string): string {
  const { data } = JSON.parse(body) as { data?: object }
  // The body of an error has no data, and nothing of the patient.
  return data ? JSON.stringify({ data: anonymizeData(data) }) : body
}

/** Data of no known kind may say anything about the patient: all of it goes. */
function anonymizeData(data: object): object | null {
  if ('first_name' in data && 'national_id' in data)
    return eraseFields(data as z.input<typeof PatientDetails>, PRIVATE_PATIENT_BODY)
  if ('first_name' in data) return eraseFields(data as z.input<typeof Patient>, PATIENT_BODY)
  if ('appointment_date' in data) return eraseFields(data as z.input<typeof Appointment>, APPOINTMENT_BODY)
  if (!('channel' in data)) return null
  return 'id' in data
    ? eraseFields(data as AcceptedSms, ACCEPTED_SMS_BODY)
    : eraseFields(data as AcceptedEmail, ACCEPTED_EMAIL_BODY)
}
