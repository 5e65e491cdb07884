import { ERASED_RECIPIENT } from './message.ts'
import { fullName, NOBODY } from './patient.ts'

/** An answer that was given before, to be given again byte for byte (Idempotency-Key). */
export class KeptAnswer {
  readonly status: number
  /** JSON as it was sent. */
  readonly body: string

  constructor(status: number, body: string) {
    this.status = status
    this.body = body
  }
}

/** What stands for each field of an answer that tells of a patient. */
const ERASED: Readonly<Record<string, string | null>> = {
  first_name: NOBODY.firstName,
  last_name: NOBODY.lastName,
  date_of_birth: null,
  gender: null,
  phone_number: null,
  email_address: null,
  notes: null,
  recipient: ERASED_RECIPIENT,
}

/** A kept answer of the same shape, once its patient is erased: ids, times and statuses stay. */
export function withoutPatient(body: string): string {
  const { data } = JSON.parse(body) as { data?: Record<string, unknown> }
  // An answer that refused tells of nobody.
  if (!data) return body
  const named = (person: object) => ({ ...person, full_name: fullName(NOBODY) })
  const fields = Object.entries(data).map(([name, value]) => [name, name in ERASED ? ERASED[name] : value])
  const erased = Object.fromEntries(fields)
  if (erased.patient) erased.patient = named(erased.patient)
  return JSON.stringify({ data: 'first_name' in data ? named(erased) : erased })
}
