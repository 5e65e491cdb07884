import type { Key } from '../../../store/keys/key.ts'

/**
 * Every kind of difference, and what is reported. `{record}` is the record that a difference concerns; `{list}`, `{day}`, `{counts}`,
 * `{position}` and `{owner}` follow from the key of the item.
 */
export const DIFFERENCES = {
  record_unreadable: '{record} cannot be read{note}',
  record_missing: '{record} is missing, and rows still hold it',
  patient_row_without_record: '{position} holds a patient whose record is missing',
  settings_incomplete: 'the settings of the clinic lack {note}',
  secret_missing: 'a secret of the clinic is missing',
  amounts_wrong: '{record} has amounts that do not add up',
  record_contradicted: '{record} has values that none of its rows in lists has',
  dangling_reference: '{record} refers to what does not exist: {note}',
  catalogue_wrong: '{record} is wrong: {note}',
  count_wrong: 'the {note}: if none is missed, --repair counts again',
  row_missing: '{record} is missing from {list}',
  row_differs: '{record} is different in {list}',
  row_extra: '{record} is in {list} and does not belong there',
  change_missing: '{record} is missing from the index of changes',
  change_extra: '{record} is in the index of changes at a wrong time',
  tally_wrong: 'the counts {counts} are wrong: {note}',
  busy_missing: '{record} takes no time on {day}',
  busy_differs: '{record} takes another time on {day}',
  busy_extra: '{record} takes time on {day}, and should not',
  busy_unversioned: '{day} has no version or unreadable holds, so nothing can be booked on it',
  appointments_overlap: '{record} {note}',
  patient_row_missing: '{record} is missing from the list of patients',
  patient_row_differs: '{position} differs from its patient',
  patient_row_stray: '{position} is past the last patient',
  patient_ordinal_wrong: '{record} names a wrong position in the list of patients: {note}',
  patient_ordinal_missing: '{position} has neither row nor record',
  patient_activity_wrong: 'the index of inactive patients differs from the patients',
  national_id_missing: '{record} is not found by national id',
  national_id_stray: '{record} is found by a national id of another',
  external_id_missing: '{record} is not found by external id',
  external_id_stray: 'an external id finds a record that does not have it',
  external_id_wrong:
    "{record} has an external id that is another record's, or that its id does not follow from",
  patient_head_wrong: 'the count of patients or updates is wrong: {note}',
  search_index_wrong: 'the search index is wrong: {note}',
  number_missing: '{record} is not found by its number',
  number_stray: 'a number is taken by invoice {note}, which does not have it',
  counter_unreadable: 'the next number of the invoices of a year cannot be read',
  invoice_unsettled: '{record} does not match its payments',
  stale_copy: '{record} shows an outdated name or address',
  refresh_interrupted: 'the change of name of {owner} did not reach all its copies',
  refresh_unscheduled: 'stale copies of the name of {owner} are not refreshed by the sweep',
  refresh_stray: 'the sweep has copies to refresh that are not stale',
  event_missing: 'events are lost, at the positions {note}',
  event_head_wrong: 'the position of the next event is taken, or cannot be read',
  event_count_wrong: '{record} would repeat sequence numbers of its events',
  delivery_unscheduled: 'the sweep does not know {record}',
  health_missing: 'the health of {record} is missing, or cannot be read',
  credential_missing: '{record} is in the list of credentials, and does not exist',
  credential_foreign: "{record} is in the list of credentials, and is another clinic's",
  credential_state_wrong: 'the list of credentials does not say whether {record} is revoked',
  credential_unlisted: '{record} is missing from the list of credentials',
  credential_outdated: '{record} has outdated settings of the clinic',
  holidays_outdated: '{record} has other holidays than the clinic',
  directory_stray: 'the row of the directory names no clinic',
  clinic_unlisted: "the operator's directory lacks the clinic",
} as const satisfies Readonly<Record<string, string>>

export type DifferenceKind = keyof typeof DIFFERENCES

/** Differences whose repair is the operator's decision. */
export const NEVER_REPAIRED: ReadonlySet<DifferenceKind> = new Set([
  'record_unreadable',
  'record_missing',
  'patient_row_without_record',
  'record_contradicted',
  'amounts_wrong',
  'dangling_reference',
  'catalogue_wrong',
  'appointments_overlap',
  'patient_ordinal_wrong',
  'patient_ordinal_missing',
  'external_id_stray',
  'external_id_wrong',
  'event_missing',
  'credential_missing',
  'credential_foreign',
] as const)

/** One difference. Keys and counts only: nothing that identifies a patient. */
export type Difference = { readonly kind: DifferenceKind; readonly key: Key; readonly note?: string }

export type ReportedDifference = Difference & { readonly repaired: boolean }
