/** A clinic's id. Only a credential or the operator's own input makes one, so no key exists without a clinic. */
export type ClinicId = string & { readonly __clinic: unique symbol }

/** What a request knows of its clinic without reading it: the copy that its credential carries. */
export type ClinicInfo = {
  readonly id: ClinicId
  readonly name: string
  /** IANA zone, e.g. `Europe/Istanbul`. */
  readonly timezone: string
  /** ISO 4217 code. */
  readonly currency: string
}

export type Clinic = ClinicInfo & {
  /** Default appointment length in minutes. */
  readonly appointmentMinutes: number
  /** ISO 8601 instant in UTC. */
  readonly createdAt: string
  /** Its own limits of what it sends; without them, the stage's. */
  readonly smsPerDay?: number
  readonly emailsPerDay?: number
  /** ISO 3166 codes of the countries that it sends SMS to. */
  readonly smsCountries?: readonly string[]
}
