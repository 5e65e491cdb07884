/** Differences in words: which record, and what is wrong with it. */
import { isUuid } from '../../../shared/domain/uuid.ts'
import type { Difference, DifferenceKind } from '../../../shared/maintenance/verify/comparison/difference.ts'
import { type Key, longId, partitionParts } from '../../../shared/store/keys/key.ts'

type Subject = { readonly record: string | null; readonly id: string | null }

const RECORDS: Readonly<Record<string, string>> = {
  A: 'appointment',
  I: 'invoice',
  Y: 'payment',
  M: 'message',
  P: 'patient',
  CD: 'department',
  CR: 'room',
  CT: 'treatment',
  CP: 'price list',
  DR: 'doctor',
  K: 'credential',
}

/** The record that a difference concerns; null for both where it concerns none. */
export function subjectOf({ key, note }: Difference): Subject {
  const { family } = partitionParts(key.pk)
  const entityCode = RECORDS[family] === undefined ? entityCodeOf(family) : family
  const record = RECORDS[entityCode] ?? null
  const named = /^appointment (\S+)$/.exec(note ?? '')?.[1]
  if (named !== undefined) return { record: 'appointment', id: named }
  const last = key.sk.slice(key.sk.lastIndexOf('#') + 1)
  const id = family === 'K' || isUuid(last) ? last : longId(last)
  return family === 'K' || isUuid(id) ? { record, id } : { record: null, id: null }
}

/** `AL` lists appointments, and `UA` is the index of their changes. */
const entityCodeOf = (family: string): string =>
  family.startsWith('U') ? family.slice(1) : family === 'PN' ? 'P' : family.slice(0, 1)

/** The list that a row is in. */
function listOf({ pk }: Key): string {
  const { family } = partitionParts(pk)
  if (family.length === 2 && family.endsWith('P')) return "patient's list"
  if (family.length === 2 && family.endsWith('D')) return "doctor's list"
  return family === 'YI' ? "invoice's list" : "clinic's list"
}

const dayOf = ({ pk, sk }: Key): string => {
  const { family, owner } = partitionParts(pk)
  return `${sk} of ${family === 'RD' ? 'room' : 'doctor'} ${owner}`
}

const ownList = (key: Key): string => {
  const list = listOf(key)
  return list === "clinic's list" ? "the clinic's list" : `its ${list}`
}

/** The predicate of a difference, after the record's name and id. */
const PREDICATES: Partial<Readonly<Record<DifferenceKind, (difference: Difference) => string>>> = {
  record_unreadable: () => 'cannot be read',
  dangling_reference: ({ note }) => `refers to what does not exist: ${note}`,
  catalogue_wrong: ({ note }) => `is wrong: ${note}`,
  row_missing: ({ key }) => `is missing from ${ownList(key)}`,
  row_differs: ({ key }) => `is different in ${ownList(key)}`,
  row_extra: ({ key }) => `is in a ${listOf(key)} where it does not belong`,
  change_missing: () => 'is missing from the index of changes',
  change_extra: () => 'is in the index of changes at a wrong time',
  busy_missing: ({ key }) => `takes no time on ${dayOf(key)}`,
  busy_differs: ({ key }) => `takes another time on ${dayOf(key)}`,
  busy_extra: ({ key }) => `takes time on ${dayOf(key)}, and should not`,
  visits_overlap: ({ note = '' }) => note,
  patient_row_missing: () => 'is missing from the list of patients',
  patient_ordinal_wrong: ({ note }) => `names a wrong position in the list of patients: ${note}`,
  national_id_missing: () => 'is not found by national id',
  national_id_stray: () => 'is found by a national id of another',
  number_missing: () => 'is not found by its number',
  external_id_missing: () => 'is not found by external id',
  invoice_unsettled: () => 'does not match its payments',
  stale_copy: () => 'shows an outdated name or address',
  credential_missing: () => 'is in the list of credentials, and does not exist',
  credential_foreign: () => "is in the list of credentials, and is another clinic's",
  credential_state_wrong: () => 'is not known to the list of credentials as it is',
  credential_outdated: () => 'has outdated settings of the clinic',
  holidays_outdated: () => 'has other holidays than the clinic',
}

const OTHERS: Partial<Readonly<Record<DifferenceKind, (difference: Difference) => string>>> = {
  tally_wrong: ({ key, note }) => {
    const { family, owner } = partitionParts(key.pk)
    const whose = owner === null ? 'of the clinic' : `of doctor ${owner}`
    return `the counts of ${RECORDS[entityCodeOf(family)]}s ${whose} in ${key.sk} are wrong: ${note}`
  },
  busy_extra: ({ key }) => `${dayOf(key)} has time that no appointment takes`,
  busy_unversioned: ({ key }) => `${dayOf(key)} has no version, so nothing can be booked on it`,
  patient_row_missing: ({ key }) => `position ${Number(key.sk)} of the list of patients is empty`,
  patient_row_differs: ({ key }) =>
    `position ${Number(key.sk)} of the list of patients differs from its patient`,
  patient_row_stray: ({ key }) =>
    `position ${Number(key.sk)} of the list of patients is past the last patient`,
  patient_row_without_record: ({ key }) =>
    `position ${Number(key.sk)} of the list of patients has no patient`,
  patient_ordinal_missing: ({ key }) => `position ${Number(key.sk)} of the list of patients has no patient`,
  patient_activity_wrong: () => 'the index of inactive patients differs from the patients',
  patient_head_wrong: ({ note }) => `the count of patients or updates is wrong: ${note}`,
  search_head_wrong: () => 'the head of the search index is inconsistent with its segments',
  search_segment_wrong: ({ note }) => `a segment of the search index is wrong: ${note}`,
  search_log_wrong: () => 'an entry of the change log of the search index is wrong',
  refresh_interrupted: ({ key }) =>
    `the change of name of ${key.sk.replace('#', ' ')} did not reach all its copies`,
  refresh_unscheduled: ({ key }) =>
    `stale copies of the name of ${key.sk.replace('#', ' ')} are not refreshed by the sweep`,
  refresh_stray: () => 'the sweep has copies to refresh that are not stale',
  clinic_unlisted: () => "the operator's directory lacks the clinic",
}

/** A difference as a sentence without its first capital and its full stop: `invoice a044... is missing from its patient's list`. */
export function inWords(difference: Difference): string {
  const { record, id } = subjectOf(difference)
  const predicate = PREDICATES[difference.kind]
  if (predicate && record !== null) return `${record} ${id} ${predicate(difference)}`
  return (
    (OTHERS[difference.kind] ?? PREDICATES[difference.kind])?.(difference) ??
    difference.kind.replaceAll('_', ' ')
  )
}
