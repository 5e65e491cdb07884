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

const Countries = z
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
    description: 'default appointment length (default: 30)',
    schema: durationMinutes,
  },
} as const satisfies Fields<Settings>

/** Limits that the stage sets for clinics without their own, which `default` returns to. */
const LIMITS: Fields<Settings> = {
  smsPerDay: {
    flags: '--sms-per-day <number>',
    description: "maximum number of SMS per clinic-local day (default: the stage's limit)",
    schema: DailyLimit,
  },
  emailsPerDay: {
    flags: '--emails-per-day <number>',
    description: "maximum number of emails per clinic-local day (default: the stage's limit)",
    schema: DailyLimit,
  },
  messagesPerRecipient: {
    flags: '--messages-per-recipient <number>',
    description:
      "maximum number of SMS, and of emails, per recipient and clinic-local day (default: the stage's limit)",
    schema: DailyLimit,
  },
  smsCountries: {
    flags: '--sms-countries <list>',
    description: "countries that it may send SMS to, e.g. TR,DE (default: the stage's list)",
    schema: Countries,
  },
}

/** Settings that a clinic may not have. */
const OPTIONAL: Fields<Settings> = {
  address: { flags: '--address <text>', description: 'its address, one line', schema: singleLineText(200) },
  phoneNumber: { flags: '--phone <number>', description: 'its phone number', schema: phoneNumber() },
  emailAddress: { flags: '--email <address>', description: 'its email address', schema: emailAddress() },
  website: { flags: '--website <url>', description: 'its website', schema: Website },
  ...LIMITS,
  emailFromName: {
    flags: '--email-from-name <name>',
    description: "sender's name of its emails (default: its name)",
    schema: singleLineText(100),
  },
  replyTo: {
    flags: '--reply-to <address>',
    description: "where replies to its emails go (default: the sender's address)",
    schema: emailAddress(),
  },
}

const SETTINGS: Fields<Settings> = { ...REQUIRED, ...OPTIONAL }

const entriesOf = (fields: Fields<Settings>) => Object.entries(fields) as [keyof Settings, Field][]

const nameOf = ({ flags }: Field): string => new Option(flags).name()

/** The options of a new clinic. */
export const addSettings = (command: Command): Command => addFields(command, SETTINGS)

/** The settings of a new clinic: of its options, and otherwise of an export. @throws CommandFailure naming what is missing or invalid */
export function newSettings(values: object, exported: Readonly<Record<string, unknown>>) {
  const copied = entriesOf(SETTINGS).flatMap(([field, { flags }]) => {
    const value = exported[field]
    return value === undefined
      ? []
      : [[new Option(flags).attributeName(), Array.isArray(value) ? value.join() : value]]
  })
  const settings = fieldsOf(SETTINGS, { duration: '30', ...Object.fromEntries(copied), ...values })
  const missing = entriesOf(REQUIRED).filter(([field]) => settings[field] === undefined)
  if (missing.length > 0)
    throw new CommandFailure(`Specify ${missing.map(([, field]) => `--${nameOf(field)}`).join(', ')}.`)
  return settings as Pick<Clinic, keyof typeof REQUIRED>
}

/** The settings of a change: `default` returns a limit to the stage's, and "" removes an optional setting. */
const CHANGES = Object.fromEntries(
  entriesOf(SETTINGS).map(([name, field]) => {
    const description = field.description?.replace(/ \(default: .*\)$/, '')
    if (name in REQUIRED) return [name, { ...field, description }]
    return name in LIMITS
      ? [
          name,
          {
            ...field,
            description: `${description}; "default" for the stage's limit`,
            words: { default: null },
          },
        ]
      : [name, { ...field, description: `${description}; "" for none`, words: NONE }]
  }),
) as Fields<Settings>

export const addChanges = (command: Command): Command => addFields(command, CHANGES)

/** The settings of options, and null for each that is removed. @throws CommandFailure for one that is invalid */
export const changesOf = (given: object): ClinicChanges => fieldsOf(CHANGES, given) as ClinicChanges
