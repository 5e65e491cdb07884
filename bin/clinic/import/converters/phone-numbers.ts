/** Phone numbers as files write them. */
import {
  type CountryCode,
  findPhoneNumbersInText,
  getExampleNumber,
  isSupportedCountry,
} from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { countryOf, internationalNumber } from '../../../../shared/domain/patients/phone-number.ts'
import { fold } from '../../../../shared/domain/patients/search-text.ts'
import { ConverterMistake, Problem } from '../files/problems.ts'

export type { CountryCode }

/**
 * The numbers of a cell in a country, in their order.
 * @throws Problem if one is none, or digits are left between them, such as an extension
 */
export function readPhoneNumbers(cell: string, country: CountryCode): [first: string, ...others: string[]] {
  if (!isSupportedCountry(country))
    throw new ConverterMistake(`${JSON.stringify(country)} is not the code of a country such as DE`)
  const whole = numberOf(cell, country)
  if (whole !== null) return [whole]
  // The library would read what follows a comma or semicolon as an extension.
  const text = cell.replace(/[;,]/g, '\n')
  const found = findPhoneNumbersInText(text, country)
  const numbers = found.map(({ startsAt, endsAt }) => numberOf(text.slice(startsAt, endsAt), country))
  const others = found.reduceRight(
    (rest, { startsAt, endsAt }) => rest.slice(0, startsAt) + rest.slice(endsAt),
    text,
  )
  const [first, ...later] = numbers.filter((number) => number !== null)
  if (first !== undefined && !numbers.includes(null) && !/\p{Nd}/u.test(others)) return [first, ...later]
  const example = getExampleNumber(country, examples)?.formatNational() ?? ''
  throw new Problem(
    `is neither a phone number of ${country}, such as ${example}, nor one with a country code`,
  )
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
