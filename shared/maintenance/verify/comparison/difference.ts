import type { Key } from '../../../store/keys/key.ts'

/** The repair of a difference that has none. */
export const NEVER = 'never repaired'

/**
 * Every kind of difference: what is reported, and how it is repaired. "Never repaired" leaves the decision to the operator. `{record}` is
 * the record that a difference concerns; `{list}`, `{day}`, `{counts}`, `{position}` and `{owner}` follow from the key of the item.
 */
export const DIFFERENCES = {
  record_unreadable: ['{record} cannot be read', NEVER],
  record_missing: [
    '{record} is missing; {note}',
    'restored if the rows agree and are complete; never deleted',
  ],
  patient_row_without_record: ['{position} holds a patient whose record is missing', NEVER],
  secret_missing: ['a secret of the clinic is missing', 'made again if nothing was lost with it'],
  amounts_wrong: [
    '{record} has amounts that do not add up, or that its rows contradict',
    'taken from the rows if only these add up',
  ],
  record_contradicted: ['{record} has values that none of its rows in lists has', NEVER],
  dangling_reference: ['{record} refers to what does not exist: {note}', NEVER],
  catalogue_wrong: ['{record} is wrong: {note}', NEVER],
  row_missing: ['{record} is missing from {list}', 'row written from the record'],
  row_differs: ['{record} is different in {list}', 'row written from the record'],
  row_extra: ['{record} is in {list} and does not belong there', 'row deleted'],
  change_missing: ['{record} is missing from the index of changes', 'listed as changed now'],
  change_extra: ['{record} is in the index of changes at a wrong time', 'removed'],
  tally_wrong: ['the counts {counts} are wrong: {note}', 'set to a recount'],
  busy_missing: ['{record} takes no time on {day}', 'time entered'],
  busy_differs: ['{record} takes another time on {day}', 'set'],
  busy_extra: ['{record} takes time on {day}, and should not', 'removed'],
  busy_unversioned: ['{day} has no version, so nothing can be booked on it', 'set'],
  appointments_overlap: ['{record} {note}', NEVER],
  patient_row_missing: ['{record} is missing from the list of patients', 'listed at its position, or last'],
  patient_row_differs: ['{position} differs from its patient', 'row written from the record'],
  patient_record_wrong: [
    '{record} has another name than its row in the list of patients, and records show that of the row',
    'taken from the row',
  ],
  patient_row_stray: ['{position} is past the last patient', 'row deleted'],
  patient_ordinal_wrong: [
    '{record} names a wrong position in the list of patients: {note}',
    'set to the position in the list',
  ],
  patient_ordinal_missing: ['{position} has neither row nor record', NEVER],
  patient_activity_wrong: ['the index of inactive patients differs from the patients', 'written again'],
  national_id_missing: ['{record} is not found by national id', 'index item written'],
  national_id_stray: ['{record} is found by a national id of another', 'index item deleted'],
  external_id_missing: ['{record} is not found by external id', 'link written'],
  external_id_stray: ['an external id finds a record that does not have it', NEVER],
  external_id_wrong: [
    "{record} has an external id that is another record's, or that its id does not follow from",
    NEVER,
  ],
  patient_head_wrong: ['the count of patients or updates is wrong: {note}', 'set to the recount'],
  search_index_wrong: ['the search index is wrong: {note}', 'written again from the patients'],
  number_missing: ['{record} is not found by its number', 'index item written'],
  invoice_unsettled: ['{record} does not match its payments', 'balance calculated again'],
  stale_copy: ['{record} shows an outdated name or address', 'rewritten'],
  refresh_interrupted: ['the change of name of {owner} did not reach all its copies', 'copies refreshed'],
  refresh_unscheduled: [
    'stale copies of the name of {owner} are not refreshed by the sweep',
    'copies refreshed',
  ],
  refresh_stray: ['the sweep has copies to refresh that are not stale', 'removed from the sweep'],
  credential_missing: ['{record} is in the list of credentials, and does not exist', NEVER],
  credential_foreign: ["{record} is in the list of credentials, and is another clinic's", NEVER],
  credential_state_wrong: [
    'the list of credentials does not say whether {record} is revoked',
    'copied from the credential',
  ],
  credential_outdated: ['{record} has outdated settings of the clinic', 'copied from the clinic'],
  holidays_outdated: ['{record} has other holidays than the clinic', 'copied from the clinic'],
  clinic_unlisted: ["the operator's directory lacks the clinic", 'added'],
} as const satisfies Readonly<Record<string, readonly [reported: string, repair: string]>>

export type DifferenceKind = keyof typeof DIFFERENCES

/** One difference. Keys and counts only: nothing that identifies a patient. */
export type Difference = { readonly kind: DifferenceKind; readonly key: Key; readonly note?: string }

export type ReportedDifference = Difference & { readonly repaired: boolean }
