import type { Key } from '../../../store/keys/key.ts'

/** Every kind of difference with its repair. "Never repaired" leaves the decision to the operator. */
export const DIFFERENCES = {
  record_unreadable: 'a record cannot be decoded; never repaired',
  dangling_reference: 'a record refers to a missing patient, doctor or invoice; never repaired',
  catalogue_wrong:
    'a department, room, treatment or price list is missing or contradicts another, as the note says; never repaired',
  row_missing: 'a record is missing from one of its lists: row written from the record',
  row_differs: 'a row differs from its record: row written from the record',
  row_extra: 'a row has no record, or does not belong to it: row deleted',
  change_missing:
    'the index of changes does not list a record at the time of its last change: listed as changed now',
  change_extra: 'the index of changes lists a record at another time, or one that does not exist: removed',
  tally_wrong: 'counters of a month differ from a recount: set to the recount',
  busy_missing: 'an appointment takes no time on the day of its doctor or room: set',
  busy_differs: 'the day of a doctor or room has another time than the appointment: set',
  busy_extra: 'the day of a doctor or room has time that no appointment takes: removed',
  busy_unversioned: 'the day of a doctor or room has no version, so that nothing can be booked on it: set',
  visits_overlap: 'two appointments to come take the same time of a doctor or a room; never repaired',
  patient_row_missing: 'a patient is not listed: listed at the position in the record, or last',
  patient_row_differs: 'a list row differs from its patient: row written from the record',
  patient_row_stray: 'a list row is past the last patient: row deleted',
  patient_row_without_record: 'a listed patient has no record; never repaired',
  patient_ordinal_wrong: "a patient's record names another place than the list has it at: set",
  patient_ordinal_missing: 'a position in the list has neither row nor record; never repaired',
  patient_activity_wrong:
    'the index of inactive patients differs from the patients: written from the patients',
  national_id_missing: 'a patient is not found by national id: index item written',
  national_id_stray: 'a national id finds a patient who does not have it: index item deleted',
  external_id_missing: 'a record is not found by its external id: link written',
  external_id_stray: 'an external id finds a record that does not have it: link deleted',
  patient_head_wrong: 'the count of patients or updates is wrong: set to the recount',
  search_head_wrong: 'the head is inconsistent with the search segments: segments and head rewritten',
  search_segment_wrong: 'a segment is missing, truncated, outdated or differs from the patients: rewritten',
  search_log_wrong: 'an entry of the change log is missing or differs from its patient: written',
  number_missing: 'an invoice is not found by its number: index item written',
  invoice_unsettled: 'an invoice does not match its payments: settled again',
  stale_copy: 'a record shows an outdated name or address, and no refresh is pending: rewritten',
  refresh_interrupted: 'a change of name did not reach all its copies: copies refreshed',
  refresh_unscheduled: 'stale copies are not listed for the sweep that refreshes them: copies refreshed',
  refresh_stray:
    'copies that are not stale are listed for the sweep that refreshes them: removed from the list',
  credential_missing: 'the list of credentials names one that does not exist; never repaired',
  credential_foreign: "the list of credentials has another clinic's; never repaired",
  credential_state_wrong:
    'the list of credentials does not say whether one is revoked: copied from the credential',
  credential_outdated: 'a credential has outdated settings of the clinic: copied from the clinic',
  holidays_outdated: 'a doctor has other holidays than the clinic: copied from the clinic',
  clinic_unlisted: "the operator's directory lacks the clinic: added",
} as const

export type DifferenceKind = keyof typeof DIFFERENCES

/** One difference. Keys and counts only: nothing that identifies a patient. */
export type Difference = { readonly kind: DifferenceKind; readonly key: Key; readonly note?: string }

export type ReportedDifference = Difference & { readonly repaired: boolean }

/** The differences found by one reading of a suspect, and a repair of all that fails if anything has changed since. */
export type Finding = {
  readonly differences: readonly Difference[]
  readonly repair: (() => Promise<void>) | null
}

/**
 * Reads a suspect again. Returns `moving` if other writers changed it between the reads, and null if nothing is wrong.
 */
export type Recheck = () => Promise<Finding | 'moving' | null>
