import {
  type CountryCode,
  isValidPhoneNumber,
  type NumberType,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import * as z from 'zod'
import { E164 } from './patient.ts'

/** An E.164 number that is valid in its country's numbering plan, according to libphonenumber. */
export const validPhoneNumber = z
  .string({ error: 'must be text' })
  .refine((text) => E164.test(text) && isValidPhoneNumber(text), {
    error: 'must be an international phone number that exists, such as +905321234567',
  })

/** Kinds of numbers whose owner earns money from calls and messages, or that no phone of a patient has. */
const COSTLY_TYPES: ReadonlySet<NumberType> = new Set([
  'PREMIUM_RATE',
  'SHARED_COST',
  'PERSONAL_NUMBER',
  'UAN',
  'PAGER',
  'VOICEMAIL',
])

/** Whether an E.164 number is a premium rate, shared cost, personal, company (UAN), pager or voicemail number. */
export const isCostly = (number: string): boolean =>
  COSTLY_TYPES.has(parsePhoneNumberFromString(number)?.getType())

/** The ISO 3166 code of an E.164 number's country; null if it has none. */
export const countryOf = (number: string): string | null =>
  parsePhoneNumberFromString(number)?.country ?? null

/** The E.164 form of a number as people write it, in a country's numbering plan unless it has a country code; null if it is no number. */
export function internationalNumber(text: string, country: string): string | null {
  const number = parsePhoneNumberFromString(text, country as CountryCode)
  return number?.isPossible() ? number.number : null
}
