import { ERASED_RECIPIENT } from './message.ts'
import { ERASED_FIELDS, fullName } from './patient.ts'

/** An answer that was given before, to be given again byte for byte (Idempotency-Key). */
export class StoredResponse {
  readonly status: number
  /** JSON as it was sent. */
  readonly body: string

  constructor(status: number, body: string) {
    this.status = status
    this.body = body
  }
}

/** What stands for each field of an answer that tells of a patient. */
const ERASED_RESPONSE_FIELDS: Readonly<Record<string, string | null>> = {
  first_name: ERASED_FIELDS.firstName,
  last_name: ERASED_FIELDS.lastName,
  date_of_birth: null,
  gender: null,
  phone_number: null,
  email_address: null,
  notes: null,
  recipient: ERASED_RECIPIENT,
}

/** A kept answer of the same shape, once its patient is erased: ids, times and statuses stay. */
export function anonymizeResponse(body: string): string {
  const { data } = JSON.parse(body) as { data?: Record<string, unknown> }
  // An answer that refused tells of nobody.
  if (!data) return body
  const withErasedName = (person: object) => ({ ...person, full_name: fullName(ERASED_FIELDS) })
  const fields = Object.entries(data).map(([name, value]) => [
    name,
    name in ERASED_RESPONSE_FIELDS ? ERASED_RESPONSE_FIELDS[name] : value,
  ])
  const erased = Object.fromEntries(fields)
  if (erased.patient) erased.patient = withErasedName(erased.patient)
  return JSON.stringify({ data: 'first_name' in data ? withErasedName(erased) : erased })
}
