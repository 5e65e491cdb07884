/** Validation of text fields, shared by the API and imports. */
import * as z from 'zod'
import { E164 } from './patient.ts'

/** No control characters, and no lone surrogates. */
const isPlainText = (text: string): boolean => !/\p{Cc}/u.test(text) && text.isWellFormed()

const hasMaxLength = (max: number) => (text: string) => text.length <= max || [...text].length <= max

/** One line of 1 to `max` characters, trimmed. */
export const singleLineText = (max: number) =>
  z
    .string({ error: 'must be text' })
    .trim()
    .min(1, { error: 'must not be empty' })
    .refine(hasMaxLength(max), { error: `must have at most ${max} characters` })
    .refine(isPlainText, { error: 'must not contain control characters or broken Unicode' })

/** Text of at most `max` characters that may contain line breaks and tabs. */
export const multiLineText = (max: number) =>
  z
    .string({ error: 'must be text' })
    .refine(hasMaxLength(max), { error: `must have at most ${max} characters` })
    .refine((text) => isPlainText(text.replace(/[\n\r\t]/g, ' ')), {
      error: 'must not contain control characters or broken Unicode',
    })

export const personName = singleLineText(100)

/** A syntactically valid email address. */
export const emailAddress = singleLineText(254).refine(
  (text) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text),
  {
    error: 'must be an email address',
  },
)

/** An E.164 number with any punctuation: `+90 (532) 123-45-67` becomes `+905321234567`. */
export const phoneNumber = singleLineText(40)
  .transform((text) => text.replace(/[\s().\-/]/g, ''))
  .refine((text) => E164.test(text), { error: 'must be an international number such as +905321234567' })
