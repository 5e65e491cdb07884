import { isValidPhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import * as z from 'zod'
import { E164 } from './patient.ts'

/** An E.164 number that is valid in its country's numbering plan, according to libphonenumber. */
export const validPhoneNumber = z
  .string({ error: 'must be text' })
  .refine((text) => E164.test(text) && isValidPhoneNumber(text), {
    error: 'must be an international phone number that exists, such as +905321234567',
  })

/** The ISO 3166 code of an E.164 number's country; null if it has none. */
export const countryOf = (number: string): string | null =>
  parsePhoneNumberFromString(number)?.country ?? null
