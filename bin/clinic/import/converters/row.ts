/** The row of a file as a converter reads it. */

import { instantOf, timesShown, wallClock } from '../../../../shared/domain/clock.ts'
import { foldName } from '../../../../shared/domain/closest-name.ts'
import { CURRENCIES } from '../../../../shared/domain/money/currencies.ts'
import { timeZone } from '../../../../shared/domain/time-zone.ts'
import { clinicTimestamp } from '../../../../shared/domain/timestamp.ts'
import { ConverterMistake, Problem } from '../files/problems.ts'
import { type DecimalMark, isSignOf, readDecimal } from './amounts.ts'
import { type FormatOptions, type Formats, readDateTime } from './dates.ts'
import type { FileColumns } from './file-columns.ts'
import { type CountryCode, readPhoneNumbers } from './phone-numbers.ts'

type CellOptions = {
  /** Texts that stand for no value, such as `n/a` or `0/0/00`. */
  readonly empty?: readonly string[]
  /** What is read of the text: the first group of the pattern, or what it matches. Other texts are a problem. */
  readonly match?: RegExp
  /** Leaves out a value that cannot be read, with a warning, instead of rejecting the row. */
  readonly invalid?: null
}

type DateOptions = CellOptions &
  FormatOptions & {
    /** What a cell with an offset means: the date and time as written, or what the clinic's clock shows then. */
    readonly offset?: 'ignore' | 'clinic'
  }

type TimestampOptions = CellOptions &
  FormatOptions & {
    /** The time zone of cells without an offset. */
    readonly zone?: 'clinic' | (string & {})
  }

/** Before it, dates are more often those of an empty cell than real ones. */
const FIRST_LIKELY_DATE = '1900-01-01'

/**
 * The cells of a row. Each method reads a column, whose name can be in upper or lower case, and returns null for an empty cell. It also
 * returns null for a cell that is not as it should be, which rejects the row. A column that the file does not have stops the import, and so
 * does one that no row reads or ignores.
 */
export class Row {
  readonly line: number
  readonly #cells: ReadonlyMap<string, unknown>
  readonly #columns: FileColumns

  constructor(line: number, values: Readonly<Record<string, unknown>>, columns: FileColumns) {
    this.line = line
    this.#cells = new Map(Object.entries(values).map(([name, value]) => [foldName(name), value]))
    this.#columns = columns
  }

  /** The text of a cell, without spaces around it. */
  text(column: string, options: CellOptions = {}): string | null {
    return this.#read(column, options, (text) => text)
  }

  /** The texts of several fields by their columns: `...row.texts({ first_name: 'Vorname', last_name: 'Name' })`. */
  texts<const Columns extends Readonly<Record<string, string>>>(columns: Columns) {
    const texts = Object.entries(columns).map(([field, column]) => [field, this.text(column)])
    return Object.fromEntries(texts) as { readonly [Field in keyof Columns]: string | null }
  }

  /** A date as `YYYY-MM-DD`. A format may have a time: `d.M.yyyy H:mm`. */
  date(column: string, formats: Formats, options: DateOptions = {}): string | null {
    const timestamp = this.#dateTime(column, formats, 'date', options)
    return timestamp && this.#isLikely(column, timestamp.slice(0, 10))
  }

  /** A time as `HH:MM`. A format may have a date: `d.M.yyyy H:mm`. */
  time(column: string, formats: Formats, options: DateOptions = {}): string | null {
    return this.#dateTime(column, formats, 'time', options)?.slice(11, 16) ?? null
  }

  /** An instant, as the clinic's clock shows it: `2026-05-01T10:00:00+03:00`. A format without an offset needs a `zone`. */
  timestamp(column: string, formats: Formats, { zone, ...options }: TimestampOptions = {}): string | null {
    const { timezone } = this.#columns
    const from = zone === 'clinic' ? timezone : zone
    if (from !== undefined && !timeZone().safeParse(from).success)
      throw new ConverterMistake(`${JSON.stringify(from)} is not a time zone`)
    return this.#read(column, options, (text) => {
      const { date, time, instant, format } = this.#parse(column, text, formats, 'timestamp', options)
      if (instant === null && from === undefined)
        throw new ConverterMistake(`the format ${JSON.stringify(format)} has no offset: say the zone`)
      const times = instant === null ? timesShown(date, from ?? '', time) : 1
      if (times !== 1)
        this.#columns.warnings.push(
          `${JSON.stringify(column)} ${times === 0 ? `does not exist on this day in ${from}` : `occurs twice on this day in ${from}; the first is taken`}`,
        )
      const shown = clinicTimestamp(instant ?? instantOf(date, from ?? '', time), timezone)
      this.#isLikely(column, shown)
      return shown
    })
  }

  /**
   * An amount as a plain decimal such as `-1234.50`, in a currency, which records without a `currency` get. Only its code, its signs or
   * the units of the options, such as `TL`, may be written next to the number.
   */
  amount(
    column: string,
    mark: DecimalMark,
    currency: string,
    { units = [], ...options }: CellOptions & { readonly units?: readonly string[] } = {},
  ): string | null {
    if (!CURRENCIES.includes(currency))
      throw new ConverterMistake(`${JSON.stringify(currency)} is not the code of a currency such as EUR`)
    const known = units.map((unit) => unit.normalize('NFKC').toLowerCase())
    const isUnit = (unit: string) => isSignOf(currency, unit) || known.includes(unit.toLowerCase())
    const amount = this.#read(column, options, (text) => readDecimal(text, mark, { name: currency, isUnit }))
    if (amount !== null) this.#columns.currencies.add(currency)
    return amount
  }

  /** A number. Only one of the units may be written next to it, such as `%`, or `pcs` and `h`. */
  number(
    column: string,
    mark: DecimalMark,
    units: string | readonly string[] = [],
    options: CellOptions = {},
  ): number | null {
    const known = [units].flat().map((unit) => unit.normalize('NFKC').toLowerCase())
    const name = known.join(' or ')
    const isUnit = (unit: string) => known.includes(unit.toLowerCase())
    return this.#read(column, options, (text) => Number(readDecimal(text, mark, { name, isUnit })))
  }

  /** An international phone number, of this country unless it has a country code; the first of several in the cell. */
  phone(column: string, country: CountryCode, options: CellOptions = {}): string | null {
    return this.#read(column, options, (text) => {
      const [first, ...others] = readPhoneNumbers(text, country)
      if (others.length > 0) this.#columns.note(column, 'as the first of several')
      return first
    })
  }

  /** What a word means, in upper or lower case. Other words are a problem. */
  oneOf<const Words extends Readonly<Record<string, unknown>>>(
    column: string,
    words: Words,
    options: CellOptions = {},
  ): Words[keyof Words] | null {
    return this.#read(column, options, (text) => {
      const word = Object.keys(words).find((one) => foldName(one) === foldName(text))
      if (word === undefined) throw new Problem(`is none of ${Object.keys(words).join(', ')}`)
      return words[word] as Words[keyof Words]
    })
  }

  /** Whether a cell has the word for yes. Another than that for no is a problem. */
  flag(column: string, yes: string, no: string, options: CellOptions = {}): boolean | null {
    return this.oneOf(column, { [yes]: true, [no]: false }, options)
  }

  /** Says that columns are not read on purpose. */
  ignore(...columns: readonly string[]): void {
    for (const column of columns) this.#columns.ignore(column)
  }

  /** Whether the file has a column. */
  has(column: string): boolean {
    return this.#columns.has(column)
  }

  /** The date and time of a cell in the form `YYYY-MM-DDTHH:MM:SS`. */
  #dateTime(column: string, formats: Formats, wanted: 'date' | 'time', options: DateOptions): string | null {
    return this.#read(column, options, (text) => {
      const { date, time, instant, format } = this.#parse(column, text, formats, wanted, options)
      if (instant === null || options.offset === 'ignore') return `${date}T${time}`
      if (options.offset === 'clinic') return clinicTimestamp(instant, this.#columns.timezone)
      throw new ConverterMistake(
        `the format ${JSON.stringify(format)} has an offset: say offset: 'ignore', or 'clinic' for the clinic's ${wanted}`,
      )
    })
  }

  #parse(
    column: string,
    text: string,
    formats: Formats,
    wanted: 'date' | 'time' | 'timestamp',
    options: FormatOptions,
  ) {
    const { timezone, now } = this.#columns
    const latest = options.latest === 'today' ? wallClock(now, timezone).date : options.latest
    const found = readDateTime(text, formats, wanted, { ...options, ...(latest !== undefined && { latest }) })
    if (Array.isArray(formats)) this.#columns.note(column, `as ${found.format}`)
    return found
  }

  #isLikely(column: string, date: string): string {
    if (date < FIRST_LIKELY_DATE) this.#columns.warnings.push(`${JSON.stringify(column)} is before 1900`)
    return date
  }

  #read<Value>(
    column: string,
    { empty = [], match, invalid }: CellOptions,
    parse: (text: string) => Value,
  ): Value | null {
    this.#columns.require(column)
    const cell = this.#cells.get(foldName(column)) ?? null
    const name = JSON.stringify(column)
    if (typeof cell === 'object' && cell !== null) throw new Problem(`${name} is not text`)
    const text = String(cell ?? '').trim()
    if (text === '') return null
    if (empty.some((one) => foldName(one) === foldName(text))) {
      this.#columns.note(column, 'as empty')
      return null
    }
    try {
      const found = match ? match.exec(text) : [text]
      if (!found) throw new Problem(`does not match ${match}`)
      return parse(found.slice(1).find((group) => group !== undefined) ?? found[0] ?? '')
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (invalid === null) this.#columns.warnings.push(`left out: ${name} ${error.message}`)
      else this.#columns.problems.set(name, this.#columns.problems.get(name) ?? `${name} ${error.message}`)
      return null
    }
  }
}
