import { ERASED_RECIPIENT } from '../domain/message.ts'
import { ERASED_FULL_NAME, PATIENT_FIELDS } from '../domain/patient.ts'

/** The value of each field that identifies a patient, once the patient is erased. */
const ERASED_RESPONSE_FIELDS: Readonly<Record<string, string | null>> = {
  first_name: PATIENT_FIELDS.firstName.erasure.replacement,
  last_name: PATIENT_FIELDS.lastName.erasure.replacement,
  date_of_birth: null,
  gender: null,
  phone_number: null,
  email_address: null,
  notes: null,
  recipient: ERASED_RECIPIENT,
}

/** Anonymizes the JSON body of a stored response whose patient is erased. Ids, times and statuses stay. */
export function anonymizeResponse(body: string): string {
  const { data } = JSON.parse(body) as { data?: Record<string, unknown> }
  // The body of an error has no data, and nothing of the patient.
  if (!data) return body
  const withErasedName = (person: object) => ({ ...person, full_name: ERASED_FULL_NAME })
  const fields = Object.entries(data).map(([name, value]) => [
    name,
    name in ERASED_RESPONSE_FIELDS ? ERASED_RESPONSE_FIELDS[name] : value,
  ])
  const erased = Object.fromEntries(fields)
  if (erased.patient) erased.patient = withErasedName(erased.patient)
  return JSON.stringify({ data: 'first_name' in data ? withErasedName(erased) : erased })
}
