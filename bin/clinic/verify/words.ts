/** Differences in words: which record, and what is wrong with it. */
import { isUuid } from '../../../shared/domain/uuid.ts'
import { DIFFERENCES, type Difference } from '../../../shared/maintenance/verify/comparison/difference.ts'
import { type Key, longId, partitionParts } from '../../../shared/store/keys/key.ts'
import { recordNameOf } from '../../../shared/store/keys/record-names.ts'

type Subject = { readonly record: string | null; readonly id: string | null }

/** The record that a difference concerns; null for both where it concerns none. */
export function subjectOf({ key, note }: Difference): Subject {
  const { clinic, family } = partitionParts(key.pk)
  const named = /^appointment (\S+)$/.exec(note ?? '')?.[1]
  if (named !== undefined && isUuid(named)) return { record: 'appointment', id: named }
  if (family === 'C') return { record: 'clinic', id: clinic }
  const last = key.sk.slice(key.sk.lastIndexOf('#') + 1)
  const id = family === 'K' || isUuid(last) ? last : longId(last)
  return family === 'K' || isUuid(id) ? { record: recordNameOf(key), id } : { record: null, id: null }
}

/** The list that a row is in. */
function listOf({ pk }: Key): string {
  const { family } = partitionParts(pk)
  if (family.length === 2 && family.endsWith('P')) return "its patient's list"
  if (family.length === 2 && family.endsWith('D')) return "its doctor's list"
  return family === 'YI' ? "its invoice's list" : "the clinic's list"
}

/** A difference as a sentence without its first capital and its full stop: `invoice a044... is missing from its patient's list`. */
export function inWords(difference: Difference): string {
  const { kind, key, note = '' } = difference
  const { record, id } = subjectOf(difference)
  const { family, owner } = partitionParts(key.pk)
  return fillIn(DIFFERENCES[kind], {
    record: record === null ? 'something' : `${record} ${id}`,
    note,
    list: listOf(key),
    day: `${key.sk} of ${family === 'RD' ? 'room' : 'doctor'} ${owner}`,
    counts: `of ${recordNameOf(key)}s ${owner === null ? 'of the clinic' : `of doctor ${owner}`} in ${key.sk}`,
    position: `position ${Number(key.sk)} of the list of patients`,
    owner: key.sk.replace('#', ' '),
  })
}

const fillIn = (text: string, parts: Readonly<Record<string, string>>): string =>
  text.replace(/{(\w+)}/g, (_, name: string) => parts[name] ?? '')
