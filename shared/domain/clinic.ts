/** A clinic's id. It comes from a credential or from the operator's input only. */
export type ClinicId = string & { readonly __clinic: unique symbol }

/** An id that is known to be one of a clinic, such as a part of a key. */
export const clinicIdOf = (id: string): ClinicId => id as ClinicId

/** A restore of the clinic's records to an earlier time. Both times are ISO 8601 instants. */
export type ClinicRestore = {
  readonly to: string
  readonly endedAt: string
}

/** The facts about a clinic that each of its credentials has a copy of, so that a request need not read the clinic. */
export type ClinicInfo = {
  readonly id: ClinicId
  readonly name: string
  /** IANA zone, e.g. `Europe/Istanbul`. */
  readonly timezone: string
  /** ISO 4217 code. */
  readonly currency: string
  /** The time at which the operator paused the clinic, an ISO 8601 instant: since then, its records are only read. */
  readonly pausedAt?: string
  /** Its messages are simulated: none reaches a provider. Decided when the clinic is created, for good. */
  readonly isTest?: true
  /** Its restores, oldest first. Cursors from before the last one, and times of changes that one of them undid, are no longer valid. */
  readonly restores?: readonly ClinicRestore[]
}

export type Clinic = ClinicInfo & {
  /** The time at which the deletion of the clinic began, an ISO 8601 instant: since then, nothing is created in it. */
  readonly deletingAt?: string
  /** The time at which all its credentials had the pause, an ISO 8601 instant. Absent while some may still allow writes. */
  readonly pauseInEffectAt?: string
  /** The restore that is in progress, or was stopped: the time it restores, its table, and whether the clinic was paused before. */
  readonly restoring?: { readonly to: string; readonly from: string; readonly wasPaused: boolean }
  /**
   * The restored table that is to replace this one. From `since`, an ISO 8601 instant, until then, nothing changes the clinic, unless the
   * restore is given up.
   */
  readonly replacement?: { readonly table: string; readonly since: string; readonly wasPaused: boolean }
  /** Default appointment length in minutes. */
  readonly appointmentMinutes: number
  /** ISO 8601 instant in UTC. */
  readonly createdAt: string
  /** Public details of the clinic: its address as one text, an E.164 phone number, and the URL of its website. */
  readonly address?: string
  readonly phoneNumber?: string
  readonly emailAddress?: string
  readonly website?: string
  /** The clinic's own sending limits. They default to the stage's. */
  readonly smsPerDay?: number
  readonly emailsPerDay?: number
  readonly messagesPerRecipient?: number
  /** The sender's name that mail programs show instead of the clinic's. */
  readonly emailFromName?: string
  /** The address that replies to the clinic's emails go to, instead of the sender's. */
  readonly replyTo?: string
  /** ISO 3166 codes of the countries that the clinic may send SMS to. */
  readonly smsCountries?: readonly string[]
}
