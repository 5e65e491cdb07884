/** Converts the text of another system into the text of a field. */
import { type CountryCode, findPhoneNumbersInText, getExampleNumber } from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { foldName } from '../../../../shared/domain/closest-name.ts'
import { countryOf, internationalNumber } from '../../../../shared/domain/patients/phone-number.ts'
import { fold } from '../../../../shared/domain/patients/search-text.ts'
import {
  type DateAndTimeFormats,
  dateFormatOf,
  dateOf,
  dateProblem,
  either,
  isSignOf,
  readAmount,
  readDuration,
  readInstant,
  readTime,
  timeOf,
} from './value-formats.ts'

export type ConversionFormats = DateAndTimeFormats & {
  readonly decimal: 'comma' | 'point' | undefined
  /** The currency of the row, or of the clinic if it has none. */
  readonly currency: string
  /** The country of phone numbers without a country code. */
  readonly country: string | undefined
  /** What is left out before a person's names. */
  readonly titles: RegExp | undefined
  /** The date in the clinic. */
  readonly today: string
}

/** A value, with the currency that its unit says and the format of its date, or what is wrong with it. */
export type Converted =
  | { readonly value: unknown; readonly currency?: string; readonly dateFormat?: string | undefined }
  | { readonly problem: string }

export type Part = 'date' | 'time' | 'first_names' | 'last_name'

const AMOUNTS = new Set([
  'price',
  'amount',
  'subtotal',
  'tax_amount',
  'discount_amount',
  'discount_rate',
  'total_amount',
  'unit_price',
  'quantity',
  'tax_rate',
])

const BOOLEANS: { readonly [text: string]: boolean } = {
  true: true,
  yes: true,
  1: true,
  false: false,
  no: false,
  0: false,
}

const isDateField = (field: string): boolean => /_date$|^date_of_birth$|^valid_(from|to)$/.test(field)

/** Converts a value, or a part of it. A value in the form that imports require anyway needs no conversion. */
export function convertField(
  field: string,
  value: unknown,
  part: Part | undefined,
  formats: ConversionFormats | undefined,
  row: ReadonlyMap<string, unknown>,
): Converted {
  if (typeof value !== 'string') return { value }
  if (!formats) return { value }
  const { dates, times, decimal, currency, country, titles, today } = formats
  if (part === 'first_names' || part === 'last_name') return { value: nameParts(value, titles)[part] }
  if (part === 'date' || isDateField(field))
    return converted(
      dateOf(value, field === 'date_of_birth' ? { ...formats, latest: today } : formats),
      dateProblem(value, formats),
      dateFormatOf(value, formats),
    )
  if (part === 'time') return converted(timeOf(value, formats), `has no time ${either(times, 'HH:mm')}`)
  if (field.endsWith('_time'))
    return converted(readTime(value, times), `is not ${either(times, 'HH:mm')}, as the map says`)
  if (field.endsWith('_at') && !isTimestamp(value))
    return converted(
      readInstant(value, formats),
      `is not ${either(dates, 'YYYY-MM-DD')}, with or without a time ${either(times, 'HH:mm')}, as the map says`,
      dateFormatOf(value, formats),
    )
  if (AMOUNTS.has(field) && decimal !== undefined) return amount(value, decimal, unitOf(field, currency))
  if (isPhone(field, row) && country !== undefined)
    return converted(
      phoneNumber(value, country),
      `is neither a phone number of ${country}, the country in the map, such as ${exampleNumber(country)}, nor one with a country code`,
    )
  if (field === 'national_id') return { value: value.replace(/[\s./]/g, '') }
  if (field === 'duration_minutes') return { value: readDuration(value) ?? value }
  if (field === 'first_name' || field === 'last_name') return { value: withoutTitles(value, titles) }
  if (/^(is|accepts)_/.test(field)) return { value: BOOLEANS[foldName(value)] ?? value }
  return { value }
}

type Unit = {
  readonly name: string
  readonly isUnit: (unit: string) => boolean
  readonly currency?: string
}

const QUANTITY_UNIT = /^(?:szt|Stk|St|uds?|pcs?|pce|ea|Std|h|db|kpl|buc|ks|kom|pz|un)$/i

/** The only unit that the numbers of a field may have. */
function unitOf(field: string, currency: string): Unit {
  if (field.endsWith('_rate')) return { name: '%', isUnit: (unit) => /^[%٪]$/.test(unit) }
  if (field === 'quantity') return { name: 'pcs or h', isUnit: (unit) => QUANTITY_UNIT.test(unit) }
  return { name: currency, isUnit: isSignOf(currency), currency }
}

function amount(text: string, decimal: 'comma' | 'point', { name, isUnit, currency }: Unit): Converted {
  const plain = readAmount(text, decimal, () => false)
  if (plain !== null) return { value: plain }
  const value = readAmount(text, decimal, isUnit)
  if (value !== null) return { value, ...(currency !== undefined && { currency }) }
  if (readAmount(text, decimal, () => true) !== null)
    return { problem: `has a unit that is not known to be ${name}` }
  return {
    problem: `is not a number such as ${decimal === 'comma' ? '1.234,50' : '1,234.50'}, as the map says`,
  }
}

/** The end of an appointment that takes some minutes. */
export function endTime(start: unknown, minutes: unknown): Converted {
  const [hour, minute] = typeof start === 'string' ? start.split(':').map(Number) : []
  if (hour === undefined || minute === undefined)
    return { problem: 'follows from start_time, which is missing' }
  const duration = readDuration(String(minutes ?? ''))
  if (duration === null) return { problem: 'is not a number of minutes, as the map says' }
  const end = hour * 60 + minute + duration
  if (end >= 24 * 60) return { problem: 'is after midnight' }
  return { value: [Math.floor(end / 60), end % 60].map((part) => String(part).padStart(2, '0')).join(':') }
}

const converted = (value: string | null, problem: string, dateFormat?: string): Converted =>
  value === null ? { problem } : { value, dateFormat }

/** Whether it has an offset already. */
const isTimestamp = (text: string): boolean => /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text)

const isPhone = (field: string, row: ReadonlyMap<string, unknown>): boolean =>
  field === 'phone_number' || (field === 'recipient' && row.get('channel') === 'sms')

const exampleNumber = (country: string): string =>
  getExampleNumber(country as CountryCode, examples)?.formatNational() ?? ''

/** The number of a cell, or the first of several in it. Null if one is none, or digits are left between them, such as an extension. */
function phoneNumber(cell: string, country: string): string | null {
  const whole = numberOf(cell, country)
  if (whole !== null) return whole
  // The library would read what follows a comma or semicolon as an extension.
  const text = cell.replace(/[;,]/g, '\n')
  const found = findPhoneNumbersInText(text, country as CountryCode)
  const numbers = found.map(({ startsAt, endsAt }) => numberOf(text.slice(startsAt, endsAt), country))
  const others = found.reduceRight(
    (rest, { startsAt, endsAt }) => rest.slice(0, startsAt) + rest.slice(endsAt),
    text,
  )
  return /\p{Nd}/u.test(others) || numbers.includes(null) ? null : (numbers[0] ?? null)
}

/**
 * A date, with or without a time: 30.12.1980 would be a number of Berlin. Of a short year, a part is a month, and no separator is a
 * space: 47-28-30 and 28 12 17 are numbers of Luxembourg.
 */
const DATE =
  /^([0-3]?\d[ ./-]+[0-3]?\d[ ./-]+(1[89]|20)\d\d|(1[89]|20)\d\d[ ./-]+[0-3]?\d[ ./-]+[0-3]?\d|([0-3]?\d[./-](0?\d|1[0-2])|(0?\d|1[0-2])[./-][0-3]?\d)[./-]\d\d)( \d?\d[.:]\d\d.*)?$/

/** The number of a text, without the words around it that say whose it is. */
function numberOf(text: string, country: string): string | null {
  const digits = text.replace(/^[^+＋\p{Nd}]+|\P{Nd}+$/gu, '')
  const number = DATE.test(fold(digits)) ? null : internationalNumber(digits, country)
  // Spreadsheets drop the plus of a number.
  const withPlus = internationalNumber(`+${digits}`)
  return withPlus === null || withPlus === number || countryOf(withPlus) !== country ? number : null
}

const withoutTitles = (name: string, titles: RegExp | undefined): string =>
  titles ? name.trim().replace(titles, '') : name

/** Last names in capitals before first names that are not: `DE LA TOUR Zoé`. Shorter ones may be initials. */
const CAPITALS = /^((?:[\p{Lu}'’-]{2,}\s+)*[\p{Lu}'’-]{3,}(?:\s+[\p{Lu}'’-]{2,})*)\s+(\S*\p{Ll}.*)$/u

/** What Portuguese last names end with. */
const GENERATION = /^(?:filho|neto|sobrinho|j[uú]nior|jr\.?)$/i

/** Where the last name begins: `Wesley de Souza`, `Jan van den Berg`, `Maria Soares e Silva`, `Carlos Souza Neto`. */
function lastNameStart(words: readonly string[]): number {
  let start = words.length - 1
  if (start > 1 && GENERATION.test(words[start] ?? '')) start--
  while (start > 1 && /^\p{Ll}{1,5}$/u.test(words[start - 1] ?? '') && /^\p{Lu}/u.test(words[0] ?? ''))
    start -= /^[ey]$/.test(words[start - 1] ?? '') && start > 2 ? 2 : 1
  return start
}

/** The names of `Anna Lena Weiß`, `Weiß, Anna Lena` or `WEISS Anna Lena`. A single word is the last name: a row without another is stored with it as first name. */
function nameParts(text: string, titles: RegExp | undefined) {
  const [before = '', after] = withoutTitles(text, titles)
    .trim()
    .split(/\s*,\s*/, 2)
  if (after) return { first_names: withoutTitles(after, titles).trim(), last_name: before }
  const [, capitals, others] = CAPITALS.exec(before) ?? []
  if (others) return { first_names: others, last_name: capitals }
  const words = before.split(/\s+/)
  const start = lastNameStart(words)
  return { first_names: words.slice(0, start).join(' ') || null, last_name: words.slice(start).join(' ') }
}
