import { type CountryCode, type NumberType, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import * as z from 'zod'
import { E164 } from './patient.ts'

/**
 * The E.164 form of a number as people write it, in a country's numbering plan unless it has a country code. Null if it is not valid in the
 * plan, according to libphonenumber, or has an extension: a message could not reach it.
 */
export function internationalNumber(text: string, country?: string): string | null {
  const number = parsePhoneNumberFromString(text, {
    ...(country !== undefined && { defaultCountry: country as CountryCode }),
    extract: false,
  })
  return number?.isValid() && !number.ext ? number.number : null
}

/** An E.164 number that is valid in its country's numbering plan. */
export const validPhoneNumber = () =>
  z
    .string({ error: 'must be text' })
    .refine((text) => E164.test(text) && internationalNumber(text) === text, {
      error: 'must be an international phone number that exists, such as +905321234567',
    })

/** The same with any punctuation, in files and options: `+90 (532) 123-45-67` becomes `+905321234567`. */
export const phoneNumber = () =>
  z
    .string({ error: 'must be text' })
    .refine((text) => !/^[\d\s().\-/]*\d[\d\s().\-/]*$/.test(text), {
      error: 'needs its country code: +49 171 1234567, not 0171... or 0049...',
    })
    .transform((text) => internationalNumber(text.trim()) ?? text)
    .pipe(validPhoneNumber())

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
