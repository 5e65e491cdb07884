/** Rules for text that people enter, the same wherever it comes in. */
import * as z from 'zod'
import { E164 } from './patient.ts'

/** Control characters have no place in a field, and a lone surrogate is half a character. */
const isPlainText = (text: string): boolean => !/\p{Cc}/u.test(text) && text.isWellFormed()

const hasMaxLength = (max: number) => (text: string) => text.length <= max || [...text].length <= max

/** One line of text of 1 to `max` characters, white space around it removed. */
export const singleLineText = (max: number) =>
  z
    .string({ error: 'must be text' })
    .trim()
    .min(1, { error: 'must not be empty' })
    .refine(hasMaxLength(max), { error: `must have at most ${max} characters` })
    .refine(isPlainText, { error: 'must not contain control characters or broken Unicode' })

/** Text of at most `max` characters that may have line breaks and tabs. */
export const multiLineText = (max: number) =>
  z
    .string({ error: 'must be text' })
    .refine(hasMaxLength(max), { error: `must have at most ${max} characters` })
    .refine((text) => isPlainText(text.replace(/[\n\r\t]/g, ' ')), {
      error: 'must not contain control characters or broken Unicode',
    })

export const personName = singleLineText(100)

/** An address that mail can be sent to, as far as its form tells. */
export const emailAddress = singleLineText(254).refine(
  (text) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text),
  {
    error: 'must be an email address',
  },
)

/** E.164, however it was punctuated: `+90 (532) 123-45-67` is `+905321234567`. */
export const phoneNumber = singleLineText(40)
  .transform((text) => text.replace(/[\s().\-/]/g, ''))
  .refine((text) => E164.test(text), { error: 'must be an international number such as +905321234567' })
