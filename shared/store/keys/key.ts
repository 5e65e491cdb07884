/**
 * Every key of the single table is built in this folder, and nowhere else.
 *
 * A clinic's items live in partitions that begin with the clinic's short id, so a key cannot be built without a
 * clinic and one clinic's query can never reach another's partition. The families that are keyed otherwise each say why:
 * credentials, their use and the clinic directory (clinics.ts), what is due (due.ts), messages by provider id (messages.ts),
 * and what is the operator's alone (operator.ts).
 */
import type { ClinicId } from '../../domain/clinic.ts'

/** The attribute by which DynamoDB deletes an item some time after the second it names. */
export const TTL = 'ttl'

/** The content of the table's stream: keys only, so that no patient data is in it. */
export const STREAM_VIEW = 'KEYS_ONLY'

/** The attribute with the format of an item whose format has changed since the first release; others do not have it. */
export const FORMAT = 'fv'

export type Key = { readonly pk: string; readonly sk: string }

/** A key as one text, for maps and sets. */
export const keyText = ({ pk, sk }: Key): string => `${pk} ${sk}`

/** Ordinals and counters as sort keys: ten digits keep their order as text. */
export const sortableNumber = (value: number): string => String(value).padStart(10, '0')

const YEAR_0 = -62_167_219_200_000

/** Instants as sort keys: milliseconds from the year 0 on, in 15 digits. */
export const sortableInstant = (instant: string): string =>
  String(Date.parse(instant) - YEAR_0).padStart(15, '0')

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const SORTABLE_BASE64 = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'

/** Translates each letter of one alphabet to the letter of another at the same position. */
function translation(from: string, to: string): (text: string) => string {
  const letters: string[] = []
  for (let at = 0; at < from.length; at++) letters[from.charCodeAt(at)] = to.charAt(at)
  return (text) => {
    let translated = ''
    for (let at = 0; at < text.length; at++) translated += letters[text.charCodeAt(at)] ?? ''
    return translated
  }
}

const toSortable = translation(BASE64URL, SORTABLE_BASE64)
const fromSortable = translation(SORTABLE_BASE64, BASE64URL)

export const SHORT_ID_LENGTH = 22

/**
 * The 16 bytes of a UUID in 22 characters that sort as the UUID does: ids are a third of a small row's bytes, and
 * bytes are what reads cost.
 */
export const shortId = (uuid: string): string =>
  toSortable(Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url'))

/** The UUID of a short id. */
export function longId(short: string): string {
  const hex = Buffer.from(fromSortable(short), 'base64url').toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The clinic of the last partition: most of them are of one clinic after the other. */
let last: { readonly clinic: ClinicId; readonly short: string } | undefined

export function partition(clinic: ClinicId, family: string): string {
  if (last?.clinic !== clinic) last = { clinic, short: shortId(clinic) }
  return `${last.short}#${family}`
}

/** The clinic and the family of a clinic's partition, and the id of the record that it belongs to, if it belongs to one. */
export function partitionParts(pk: string): { clinic: string | null; family: string; owner: string | null } {
  const [clinic, family = '', owner] = pk.split('#')
  const idOf = (short: string | undefined) => (short?.length === SHORT_ID_LENGTH ? longId(short) : null)
  return { clinic: idOf(clinic), family, owner: idOf(owner) }
}
