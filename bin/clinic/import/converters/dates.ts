/** Dates and times as files write them, by formats of date-fns. */
import { createRequire } from 'node:module'
import { UTCDate, utc } from '@date-fns/utc'
import { format as formatted } from 'date-fns/format'
import { isValid } from 'date-fns/isValid'
import type * as locales from 'date-fns/locale'
import { parse } from 'date-fns/parse'
import { isCalendarDate } from '../../../../shared/domain/timestamp.ts'
import { ConverterMistake, Problem } from '../files/problems.ts'

type Locales = typeof locales

const require = createRequire(import.meta.url)

/** The option of a language. Loading languages takes long, and most files need none. */
const localeOption = (name: keyof Locales | undefined): { locale?: Locales[keyof Locales] } => {
  if (name === undefined) return {}
  const all: Locales = require('date-fns/locale')
  return { locale: all[name] }
}

/** A format of date-fns such as `d.M.yyyy` or `d MMM yyyy h:mma`, or several of which the first that fits is used. */
export type Formats = string | readonly string[]

export type FormatOptions = {
  /** The language of names of months, such as `fr` or `pl`; otherwise English. */
  readonly locale?: keyof Locales
  /** The last date that two digits of a year can mean: `2046-12-31`, or `today` for births. */
  readonly latest?: string
}

/** What a format must have. */
type Wanted = 'date' | 'time' | 'timestamp'

type DateTime = {
  /** As it is written, whatever its offset: `YYYY-MM-DD` and `HH:MM:SS`. */
  readonly date: string
  readonly time: string
  /** The instant in UTC, if it has an offset. */
  readonly instant: string | null
  readonly format: string
}

/** Unknown parts of a date are read from it. */
const REFERENCE = new UTCDate(2000, 0, 1)
const SAMPLE = new UTCDate(1974, 11, 31, 21, 45)

/** The year that dates of other systems for none are before, such as 0001-01-01 or 1753-01-01. */
const FIRST_YEAR = '1800'

/** The days since 1900 by which a spreadsheet stores a date. */
const DAY_NUMBER = /^[1-9]\d{4}([.,]\d+)?$/

type Format = {
  readonly text: string
  readonly hasOffset: boolean
  readonly hasShortYear: boolean
}

/** A format that says all that is wanted. @throws ConverterMistake */
function formatOf(text: string, wanted: Wanted, { latest }: FormatOptions): Format {
  const tokens = text.replace(/''|'[^']*'/g, '')
  const mistake = (problem: string) => new ConverterMistake(`the format ${JSON.stringify(text)} ${problem}`)
  const other = /[A-Za-z]/.exec(tokens.replace(/[yuMLdoHhKkmsSabBXx]/g, ''))?.[0]
  if (other !== undefined)
    throw mistake(`has ${other}, which is no part of dates and times: see https://date-fns.org/docs/parse`)
  if (wanted !== 'time' && !(/[yu]/.test(tokens) && /[ML]/.test(tokens) && tokens.includes('d')))
    throw mistake('needs a year (yyyy), a month (M or MMM) and a day (d)')
  if (wanted === 'time' && !/[HhKk]/.test(tokens)) throw mistake('needs an hour (H, or h and a)')
  if (/[hK]/.test(tokens) && !/[abB]/.test(tokens)) throw mistake('needs a (am or pm) besides h')
  const hasShortYear = /(?<!y)yy(?!y)/.test(tokens)
  if (hasShortYear && !isCalendarDate(latest ?? ''))
    throw mistake('has years of two digits: say the last date that they can mean by latest')
  return { text, hasOffset: /[Xx]/.test(tokens), hasShortYear }
}

/** @throws Problem if no format fits, or the date does not exist or is that of an empty one */
export function readDateTime(text: string, given: Formats, wanted: Wanted, options: FormatOptions): DateTime {
  const all = [given].flat().map((one) => formatOf(one, wanted, options))
  let isShort = false
  for (const format of all) {
    const found = readAs(text, format, options)
    if (!found) continue
    if (wanted === 'time') return found
    const year = found.date.slice(0, 4)
    if (year < '0100' && !text.includes(year)) {
      isShort = true
      continue
    }
    if (year < FIRST_YEAR) throw new Problem(`is before ${FIRST_YEAR}: name what stands for no date in empty`)
    return found
  }
  if (isShort) throw new Problem('has a year of two digits: the format needs yy, and latest')
  if (DAY_NUMBER.test(text)) throw new Problem("is a spreadsheet's day number: save the column as dates")
  const inLanguage = localeOption(options.locale)
  const examples = all.map((one) => `${one.text}, such as ${formatted(SAMPLE, one.text, inLanguage)}`)
  throw new Problem(
    `is not ${wanted === 'time' ? 'a time' : 'a date that exists'} as ${examples.join(', or ')}`,
  )
}

function readAs(text: string, format: Format, { locale, latest = '' }: FormatOptions): DateTime | null {
  const read = (one: string) =>
    parse(one, format.text, REFERENCE, { ...localeOption(locale), in: utc }) as Date
  // With an offset of zero, the parts are those that are written.
  const written = format.hasOffset
    ? text.replace(/[+-]\d\d:?(\d\d)?$/, (offset) => offset.replace('-', '+').replace(/\d/g, '0'))
    : text
  const found = read(written)
  if (!isValid(found)) return null
  const [day = '', time = ''] = new Date(found.getTime()).toISOString().split('T')
  const date = format.hasShortYear ? withCentury(day, latest) : day
  if (!isCalendarDate(date)) return null
  const at = { date, time: time.slice(0, 8), format: format.text }
  if (!format.hasOffset) return { ...at, instant: null }
  const shift = read(text).getTime() - found.getTime()
  const instant = new Date(Date.parse(`${date}T${time}`) + shift)
  return { ...at, instant: instant.toISOString() }
}

/** A date in the last year that ends with the same two digits in which it is not after `latest`. */
function withCentury(date: string, latest: string): string {
  const [, shortYear = '', monthAndDay = ''] = /^\d\d(\d\d)(.*)$/.exec(date) ?? []
  const century = Number(latest.slice(0, 2))
  const inLast = `${century}${shortYear}${monthAndDay}`
  return inLast > latest ? `${century - 1}${shortYear}${monthAndDay}` : inLast
}
