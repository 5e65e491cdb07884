/** The settings of a clinic as options of commands. */
import { type Command, Option } from 'commander'
import { isSupportedCountry } from 'libphonenumber-js/max'
import * as z from 'zod'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { phoneNumber } from '../../../shared/domain/patients/phone-number.ts'
import { emailAddress, singleLineText } from '../../../shared/domain/patients/text-fields.ts'
import { timeZone } from '../../../shared/domain/time-zone.ts'
import type { ClinicChanges } from '../../../shared/store/clinics.ts'
import { currencyCode, durationMinutes } from '../../../shared/sync/entities/catalogue-fields.ts'
import { addFields, type Field, type Fields, fieldsOf, NONE, numberOf } from '../tool/fields.ts'
import { CommandFailure } from '../tool/output.ts'

const Currency = z.string().toUpperCase().pipe(currencyCode)

const DailyLimit = numberOf('messages a day')

/** Exports have a list of codes. */
const Countries = z.coerce
  .string()
  .toUpperCase()
  .transform((list) => [...new Set(list.split(',').map((code) => code.trim()))])
  .refine((codes) => codes.every((code) => isSupportedCountry(code)), {
    error: 'must be ISO 3166 codes such as TR,DE',
  })

const Website = z
  .url({ protocol: /^https?$/, error: 'must be a URL such as https://clinic.example.com/' })
  .max(500, { error: 'must be at most 500 characters' })

type Settings = Omit<Clinic, 'id' | 'createdAt' | 'isTest'>

/** Settings that every clinic has. */
const REQUIRED = {
  name: { flags: '--name <name>', description: 'its name', schema: singleLineText(100) },
  timezone: { flags: '--timezone <zone>', description: 'IANA, e.g. Europe/Istanbul', schema: timeZone() },
  currency: { flags: '--currency <code>', description: 'ISO 4217, e.g. EUR', schema: Currency },
  appointmentMinutes: {
    flags: '--duration <minutes>',
    description: 'default appointment length, at first 30',
    schema: durationMinutes,
  },
} as const satisfies Fields<Settings>

/** A setting that a clinic may not have. */
const optional = (flags: string, description: string, schema: z.ZodType, none = 'none'): Field => ({
  flags,
  description: `${description}; "" for ${none}`,
  schema,
  words: NONE,
})

/** A limit that the stage sets for clinics without their own. */
const limit = (flags: string, description: string, schema: z.ZodType): Field => ({
  flags,
  description: `${description}; "default" for the stage's`,
  schema,
  words: { default: null },
})

const SETTINGS: Fields<Settings> = {
  ...REQUIRED,
  address: optional('--address <text>', 'its address, one line', singleLineText(200)),
  phoneNumber: optional('--phone <number>', 'its phone number', phoneNumber()),
  emailAddress: optional('--email <address>', 'its email address', emailAddress()),
  website: optional('--website <url>', 'its website', Website),
  smsPerDay: limit('--sms-per-day <number>', 'maximum number of SMS per clinic-local day', DailyLimit),
  emailsPerDay: limit(
    '--emails-per-day <number>',
    'maximum number of emails per clinic-local day',
    DailyLimit,
  ),
  messagesPerRecipient: limit(
    '--messages-per-recipient <number>',
    'maximum number of SMS, and of emails, per recipient and clinic-local day',
    DailyLimit,
  ),
  smsCountries: limit('--sms-countries <list>', 'countries that it may send SMS to, e.g. TR,DE', Countries),
  emailFromName: optional(
    '--email-from-name <name>',
    "sender's name of its emails",
    singleLineText(100),
    'its name',
  ),
  replyTo: optional(
    '--reply-to <address>',
    'where replies to its emails go',
    emailAddress(),
    "the sender's address",
  ),
}

export const addSettings = (command: Command): Command => addFields(command, SETTINGS)

/** The settings of options, and null for each that is removed. @throws CommandFailure for one that is invalid */
export const settingsOf = (given: object): ClinicChanges => fieldsOf(SETTINGS, given) as ClinicChanges

/** The settings of a new clinic: of its options, and otherwise of an export. @throws CommandFailure naming what is missing or invalid */
export function newSettings(values: object, exported: Readonly<Record<string, unknown>>) {
  const fields = Object.entries(SETTINGS).map(([name, { flags }]) => ({ name, option: new Option(flags) }))
  const copied = fields.flatMap(({ name, option }) =>
    name in exported ? [[option.attributeName(), exported[name]]] : [],
  )
  const settings = settingsOf({ duration: '30', ...Object.fromEntries(copied), ...values })
  const missing = fields.filter(({ name }) => name in REQUIRED && !(name in settings))
  if (missing.length > 0)
    throw new CommandFailure(`Specify ${missing.map(({ option }) => `--${option.name()}`).join(', ')}.`)
  const given = Object.entries(settings).filter(([, value]) => value !== null)
  return Object.fromEntries(given) as Pick<Clinic, keyof typeof REQUIRED>
}
