/** Validation of text fields, shared by the API and imports. */
import { domainToASCII, domainToUnicode } from 'node:url'
import * as z from 'zod'
import { LANGUAGE_TAG, NATIONAL_ID } from './patient.ts'

/** Control characters, lone surrogates, and U+FFFD: gateways put it in place of bytes that are not UTF-8. */
const BROKEN = /[\p{Cc}\p{Cs}\ufffd]/u

const isPlainText = (text: string): boolean => !BROKEN.test(text)

/** What is wrong with a text, and the first character that is: most of them cannot be seen. */
const naming = (problem: string, wrong: RegExp | string) => ({
  error: ({ input }: { readonly input?: unknown }): string => {
    const code = new RegExp(wrong, 'v').exec(String(input))?.[0].codePointAt(0)
    return `${problem}${code === undefined ? '' : `: it has U+${code.toString(16).toUpperCase().padStart(4, '0')}`}`
  },
})

const NOT_PLAIN = 'must not contain control characters or broken Unicode'

/** A pattern that its first use compiles: classes of characters take a millisecond, and most functions match none. */
function matches(compile: () => RegExp) {
  let pattern: RegExp | undefined
  return (text: string): boolean => {
    pattern ??= compile()
    return pattern.test(text)
  }
}

/** A letter, digit, sign or symbol that is displayed. Hangul fillers and the blank Braille pattern are not. */
const hasVisible = matches(() => /[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800]]/v)

/** Characters that change the direction of the text around them, so that it reads as something else. */
const DIRECTIONAL_OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/

const OVERRIDDEN = naming('must not contain directional overrides', DIRECTIONAL_OVERRIDES)

const hasMaxLength = (max: number) => (text: string) => text.length <= max || [...text].length <= max

/** One line of at most `max` characters, trimmed: empty, or with at least one character that is visible. */
const line = (max: number) =>
  z
    .string({ error: 'must be text' })
    .meta({ maxLength: max })
    .trim()
    .refine(hasMaxLength(max), { error: `must have at most ${max} characters`, abort: true })
    .refine(isPlainText, naming(NOT_PLAIN, BROKEN))
    // Each text gets one reason: an empty or broken one has got another.
    .refine((text) => text === '' || !isPlainText(text) || hasVisible(text), {
      error: 'must have a visible character',
    })
    .refine((text) => !DIRECTIONAL_OVERRIDES.test(text), OVERRIDDEN)

/** One line of 1 to `max` characters. */
export const singleLineText = (max: number) => line(max).min(1, { error: 'must not be empty' })

/** Text of at most `max` characters (code points, as JSON Schema counts them). */
export const text = (max: number) =>
  z
    .string({ error: 'must be text' })
    .meta({ maxLength: max })
    .refine(hasMaxLength(max), { error: `must have at most ${max} characters` })

/** Text of at most `max` characters that may contain line breaks and tabs. */
export const multiLineText = (max: number) =>
  text(max).refine((text) => !BROKEN_LINES.test(text), naming(NOT_PLAIN, BROKEN_LINES))

const BROKEN_LINES = /(?![\n\r\t])[\p{Cc}\p{Cs}\ufffd]/u

export const personName = () => singleLineText(100)

/** Empty for a person with one name, which is the first name. */
export const lastName = () => line(100)

/** Unquoted, so that it contains no sign that separates addresses or names a group (RFC 5322). */
const LOCAL_PART = /^(?=.{1,64}$)[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/

/** Letters and digits of any script, without invisible ones, and the signs that domains have within words (RFC 5892, A.3 to A.7). */
const ALPHANUMERIC = String.raw`[\p{L}\p{M}\p{N}\u00b7\u0375\u05f3\u05f4\u30fb]--\p{Default_Ignorable_Code_Point}`

/** A host name of at least two labels, of which the last is not a number. */
const DOMAIN = String.raw`^((?!-)[[${ALPHANUMERIC}]\-]{1,63}(?<!-)\.)+(?!-|\d+$)[[${ALPHANUMERIC}]\-]{1,63}(?<!-)$`

const isDomain = matches(() => new RegExp(DOMAIN, 'v'))

function splitAddress(address: string): readonly [local: string, domain: string] {
  const at = address.lastIndexOf('@')
  return [address.slice(0, at), address.slice(at + 1)]
}

/** An address with its domain in punycode, as SES takes it. */
export function asciiAddress(address: string): string {
  const [local, domain] = splitAddress(address)
  return `${local}@${domainToASCII(domain)}`
}

/** An address with its domain in lower-case Unicode, as it is stored. */
function unicodeAddress(address: string): string {
  const [local, domain] = splitAddress(asciiAddress(address))
  return `${local}@${domainToUnicode(domain)}`
}

const MAX_ADDRESS = 254

/** Whether the domain is a host name as it is given, in punycode and in Unicode: the conversions accept more than host names. */
function isAddress(text: string): boolean {
  const [ascii, unicode] = [asciiAddress(text), unicodeAddress(text)]
  const isHost = [text, ascii, unicode].every((form) => isDomain(splitAddress(form)[1]))
  // Punycode that stands for no text is left as it is.
  const isDecoded = !/[@.]xn--/.test(unicode)
  return isHost && isDecoded && LOCAL_PART.test(splitAddress(text)[0]) && ascii.length <= MAX_ADDRESS
}

/**
 * The address of one recipient: no display name, list, group, comment, quoted part or IP address. Parsing converts its domain to
 * lower-case Unicode. SES does not deliver to a local part outside ASCII.
 */
export const emailAddress = () =>
  singleLineText(MAX_ADDRESS)
    .meta({ maxLength: MAX_ADDRESS, pattern: String.raw`^[^\s@]{1,64}@([^\s@.]{1,63}\.)+[^\s@.]{1,63}$` })
    .refine(isAddress, {
      error: ({ input }) =>
        /[^\0-\x7f]/.test(splitAddress(String(input))[0])
          ? 'must have only ASCII characters before the @'
          : 'must be an email address',
    })
    .overwrite(unicodeAddress)

const VISIBLE = String.raw`[[\p{L}\p{M}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800]]`

const isExternalId = matches(() => new RegExp(`^${VISIBLE}( ?${VISIBLE})*$`, 'v'))

/** The id of a record in another system, in requests, files and commands. */
export const externalId = () =>
  z
    .string({ error: 'must be text' })
    .meta({ minLength: 1, maxLength: 100 })
    .trim()
    .refine(isPlainText, naming(NOT_PLAIN, BROKEN))
    // A broken one has got a reason.
    .refine((text) => !isPlainText(text) || (hasMaxLength(100)(text) && isExternalId(text)), NOT_VISIBLE)

const NOT_VISIBLE = naming(
  'must have 1 to 100 visible characters, with at most one space between two of them',
  `(?!${VISIBLE}| )[^]`,
)

/** A national id, see {@link NATIONAL_ID}. Parsing converts it to upper case, so that letter case makes no difference. */
export const nationalId = () =>
  z
    .string({ error: 'must be text' })
    .meta({ maxLength: 32, pattern: NATIONAL_ID.source })
    .trim()
    .regex(NATIONAL_ID, { error: 'must have 1 to 32 letters of the English alphabet, digits and hyphens' })
    .toUpperCase()

/** Null for a text that is no BCP 47 tag. */
function canonicalTag(text: string): string | null {
  try {
    return LANGUAGE_TAG.test(text) ? (Intl.getCanonicalLocales(text)[0] ?? null) : null
  } catch {
    return null
  }
}

const tooLong = { error: 'must have at most 35 characters', abort: true }

/** A language, as a BCP 47 tag. Parsing converts it to its canonical spelling, which can be longer. */
export const languageTag = () =>
  z
    .string({ error: 'must be text' })
    .meta({ pattern: LANGUAGE_TAG.source })
    .trim()
    .max(35, tooLong)
    .refine((text) => canonicalTag(text) !== null, {
      error: 'must be a language tag such as de, pt-BR or zh-Hant',
    })
    .overwrite((text) => canonicalTag(text) ?? text)
    .max(35, tooLong)

/** Notes on a patient or an appointment. */
export const notes = () => multiLineText(2000)

export const cancellationReason = () => multiLineText(500)

/** Stored with its accents composed, so that it is one number whoever types it. */
export const invoiceNumber = () => singleLineText(100).overwrite((number) => number.normalize())

/** The description of a payment or of a line item, or the reason why a payment is void. */
export const financeText = () => singleLineText(500)

/** The name of a department, room, treatment or price list. */
export const catalogueName = () => singleLineText(100)

export const treatmentCode = () => singleLineText(50)

export const treatmentDescription = () => multiLineText(500)
