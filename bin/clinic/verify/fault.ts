import type { Key } from '../../../shared/store/keys/key.ts'

/** What can be wrong with a clinic's items, and what its repair is; "never" is for the operator to decide. */
export const FAULTS = {
  record_unreadable: 'a record that its own entity cannot read; never repaired',
  dangling_reference: 'a record of a patient, doctor or invoice that is not there; never repaired',
  row_missing: 'a record is not in one of its lists: written from the record',
  row_differs: 'a row does not say what its record says: written from the record',
  row_extra: 'a row without a record, or where its record does not stand: deleted',
  tally_wrong: 'counters of a month that no recount gives: set to the recount',
  busy_missing: "an appointment takes no time on its doctor's day: set",
  busy_differs: "a doctor's day has another time than the appointment: set",
  busy_extra: "a doctor's day has time that no appointment takes: removed",
  busy_unversioned: "a doctor's day has no version, so that nothing can be booked on it: set",
  patient_row_missing: 'a patient is not listed: listed where the record says, or last',
  patient_row_differs: 'a list row does not say what the patient says: written from the record',
  patient_row_stray: 'a list row past the last patient: deleted',
  patient_row_without_record: 'a listed patient has no record; never repaired',
  patient_ordinal_wrong: "a patient's record names another place than the list has it at: set",
  patient_ordinal_missing: 'a place of the list has neither row nor record; never repaired',
  patient_head_wrong: 'the count of patients or updates: set',
  search_head_wrong: 'what the head says of the search segments cannot be: segments and head written anew',
  search_segment_wrong: 'a segment is missing, cut, outdated or says what patients do not: written anew',
  search_log_wrong: 'an entry of the change log is missing or says what its patient does not: written',
  invoice_unsettled: 'an invoice is not what its payments make of it: settled',
  stale_copy: 'a record shows an old name or address, and nothing is owed to it: rewritten',
  fan_out_owed: 'a change of name never reached all its copies: paid',
  credential_missing: 'the list of credentials has one that does not exist; never repaired',
  credential_foreign: "the list of credentials has another clinic's; never repaired",
  clinic_unlisted: "the operator's directory lacks the clinic: added",
} as const

export type FaultKind = keyof typeof FAULTS

/** One thing that is wrong. Keys and counts only: nothing that a patient is known by. */
export type Fault = { readonly kind: FaultKind; readonly key: Key; readonly note?: string }

export type Difference = Fault & { readonly repaired: boolean }

/** What a look at a suspect found wrong, and how to mend all of it under the condition that nothing has moved since. */
export type Finding = { readonly faults: readonly Fault[]; readonly repair: (() => Promise<void>) | null }

/**
 * Reads a suspect anew. `moving`: others changed it between the reads, so that they say nothing together. Null: nothing
 * is wrong.
 */
export type Recheck = () => Promise<Finding | 'moving' | null>
