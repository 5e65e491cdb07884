/** Finds the names and phone numbers of patients in the columns of a file. */
import { isPhone, isWholeName } from './guess-formats.ts'
import { type Language, plain, wordsIn } from './known-languages.ts'
import type { Column } from './read-samples.ts'

export type Find = (field: string) => readonly Column[]
export type Take = (field: string, source: unknown, ...from: readonly (Column | undefined)[]) => void

/** The columns of a source. */
export const columnOf = (source: unknown): string[] => {
  if (typeof source === 'string') return [source]
  if (Array.isArray(source)) return source
  const { column, join: joined } = (source ?? {}) as { column?: string; join?: string[] }
  return joined ?? (column === undefined ? [] : [column])
}

/** Names of columns with numbers that can receive SMS. */
const MOBILE = /mob|móvil|movil|cel|handy|gsm|cep|portable|telem|kom/i

export function takePhones(columns: readonly Column[], named: readonly Column[], take: Take): void {
  const alike = columns.filter((one) => isPhone(one) && named.some(({ name }) => sharesWord(name, one.name)))
  const known = [...new Set([...named, ...alike])].filter(({ values }) => values.length > 0)
  const phones = (known.length > 0 ? known : columns.filter(isPhone))
    .filter(isNoPostcode)
    .toSorted((a, b) => Number(MOBILE.test(b.name)) - Number(MOBILE.test(a.name)))
  if (phones.length > 0)
    take('phone_number', phones.length > 1 ? phones.map(({ name }) => name) : phones[0]?.name, ...phones)
}

/** In Turkish, Cep is a mobile phone, in Portuguese a postcode. */
const isNoPostcode = ({ values }: Column): boolean => !values.every((text) => /^\d{5}-\d{3}$/.test(text))

const sharesWord = (one: string, other: string): boolean =>
  wordsIn(one).some((word) => wordsIn(other).includes(word))

/** Words that a last name can begin with. */
const PARTICLES = String.raw`(?:(?:d[aeiou]|d[ae]l|d[aeo]s|de[nr]|dalla|dell[aeo]|degli|dei|l[aeo]|l[ao]s|san|ter|van|von)\s+)*`

/** Patterns of names whose last name comes first: `DI MARZIO ANNA`, `Weiß, Anna`. */
const LAST_FIRST = {
  first_name: String.raw`^(?:[^,]+,|${PARTICLES}[^\s,]+\s)\s*(.+)$`,
  last_name: String.raw`^(?:[^,]+(?=,)|${PARTICLES}[^\s,]+)`,
}

/** Whether the name of a column says that last names come first: `Cognome e nome`. Undefined if it says nothing of the order. */
function isLastFirst(column: Column, languages: readonly Language[]): boolean | undefined {
  const name = plain(column.name)
  const [order] = languages.flatMap(({ patients }) => {
    const [first, last] = ['first_name', 'last_name'].map((field) =>
      (patients?.[field] ?? []).map((known) => name.indexOf(plain(known))).filter((at) => at >= 0),
    )
    return first?.length && last?.length ? [Math.min(...last) < Math.min(...first)] : []
  })
  return order
}

/** Whether a name has neither a comma nor a last name in capitals, and so does not show which name is the last. */
const isUnordered = (name: string): boolean => !/,|\p{Lu}{2}.*\p{Ll}/u.test(name)

export function takeNames(find: Find, take: Take, languages: readonly Language[], notes: string[]): void {
  const [given] = find('first_name')
  const [family] = find('last_name').filter((column) => column !== given)
  const [whole] = [...find('name'), given, family].filter((column) => column && isWholeName(column))
  if (given && family && given !== family) {
    const joined = (one: Column, [other]: readonly Column[]) =>
      other && other !== one ? { join: [one.name, other.name] } : one.name
    take('first_name', joined(given, find('middle_name')), given, find('middle_name')[0])
    take('last_name', joined(family, find('second_last_name')), family, find('second_last_name')[0])
    return
  }
  if (!whole) return
  const lastFirst = whole.values.some(isUnordered)
    ? (languages[0]?.lastFirst ?? isLastFirst(whole, languages))
    : false
  const name = JSON.stringify(whole.name)
  if (lastFirst) {
    for (const [field, match] of Object.entries(LAST_FIRST)) take(field, { column: whole.name, match }, whole)
    notes.push(`first_name: last names come first in ${name}; check those of several words`)
    return
  }
  if (lastFirst === undefined)
    notes.push(`first_name: ${name} is read as first names before a last name; check it`)
  take('first_name', { column: whole.name, part: 'first_names' }, whole)
  take('last_name', { column: whole.name, part: 'last_name' }, whole)
}

/** The titles that names of a file begin with. */
export function titlesOf(
  { first_name, last_name }: { readonly [field: string]: unknown },
  columns: readonly Column[],
  languages: readonly Language[],
): string[] {
  const names = [...columnOf(first_name), ...columnOf(last_name)]
  const texts = columns.filter(({ name }) => names.includes(name)).flatMap(({ values }) => values)
  const words = new Set(
    texts.flatMap((text) => text.split(/[\s,]+/).slice(0, -1)).map((word) => word.toLowerCase()),
  )
  const known = new Map(languages.flatMap(({ titles = [] }) => titles.map((one) => [one.toLowerCase(), one])))
  return [...known.values()].filter((title) =>
    title.split(' ').every((word) => words.has(word.toLowerCase())),
  )
}
