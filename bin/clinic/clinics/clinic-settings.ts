/** The settings of a clinic as options of commands. */
import { type Command, Option } from 'commander'
import { isSupportedCountry } from 'libphonenumber-js/max'
import * as z from 'zod'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { CURRENCIES } from '../../../shared/domain/money/currencies.ts'
import { emailAddress, phoneNumber, singleLineText } from '../../../shared/domain/patients/text-fields.ts'
import { isTimezone } from '../../../shared/domain/timestamp.ts'
import type { ClinicChanges } from '../../../shared/store/clinics.ts'
import { CommandFailure, parseOption } from '../tool/output.ts'

const Timezone = z.string().refine(isTimezone, { error: 'must be an IANA time zone such as Europe/Istanbul' })

const Currency = z
  .string()
  .toUpperCase()
  .refine((code) => CURRENCIES.includes(code), { error: 'must be an ISO 4217 code such as EUR' })

const Minutes = z.coerce
  .number({ error: 'must be a number of minutes from 5 to 480' })
  .int({ error: 'must be a whole number of minutes' })
  .min(5, { error: 'must be at least 5 minutes' })
  .max(480, { error: 'must be at most 480 minutes' })

const DailyLimit = z.coerce
  .number({ error: 'must be a number of messages a day' })
  .int({ error: 'must be a whole number' })
  .min(1, { error: 'must be at least 1' })
  .max(1_000_000, { error: 'must be at most 1000000' })

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

type Setting = {
  readonly field: keyof Omit<Clinic, 'id' | 'createdAt' | 'isTest'>
  /** The name of the option's value, and what the option does. */
  readonly value: string
  readonly description: string
  readonly schema: z.ZodType
}

/** Settings that every clinic has, by the name of their option. */
const REQUIRED = {
  name: { field: 'name', value: 'name', description: 'its name', schema: singleLineText(100) },
  timezone: {
    field: 'timezone',
    value: 'zone',
    description: 'IANA, e.g. Europe/Istanbul',
    schema: Timezone,
  },
  currency: { field: 'currency', value: 'code', description: 'ISO 4217, e.g. EUR', schema: Currency },
  duration: {
    field: 'appointmentMinutes',
    value: 'minutes',
    description: 'default appointment length (default: 30)',
    schema: Minutes,
  },
} as const satisfies Record<string, Setting>

/** Settings that a clinic may not have, by the name of their option. The stage has limits for clinics without their own. */
const OPTIONAL = {
  address: {
    field: 'address',
    value: 'text',
    description: 'its address, one line',
    schema: singleLineText(200),
  },
  phone: { field: 'phoneNumber', value: 'number', description: 'its phone number', schema: phoneNumber() },
  email: { field: 'emailAddress', value: 'address', description: 'its email address', schema: emailAddress() },
  website: { field: 'website', value: 'url', description: 'its website', schema: Website },
  'sms-per-day': {
    field: 'smsPerDay',
    value: 'number',
    description: "maximum number of SMS per clinic-local day (default: the stage's limit)",
    schema: DailyLimit,
  },
  'emails-per-day': {
    field: 'emailsPerDay',
    value: 'number',
    description: "maximum number of emails per clinic-local day (default: the stage's limit)",
    schema: DailyLimit,
  },
  'messages-per-recipient': {
    field: 'messagesPerRecipient',
    value: 'number',
    description:
      "maximum number of SMS, and of emails, per recipient and clinic-local day (default: the stage's limit)",
    schema: DailyLimit,
  },
  'sms-countries': {
    field: 'smsCountries',
    value: 'list',
    description: "countries that it may send SMS to, e.g. TR,DE (default: the stage's list)",
    schema: Countries,
  },
  'email-from-name': {
    field: 'emailFromName',
    value: 'name',
    description: "sender's name of its emails (default: its name)",
    schema: singleLineText(100),
  },
  'reply-to': {
    field: 'replyTo',
    value: 'address',
    description: "where replies to its emails go (default: the sender's address)",
    schema: emailAddress(),
  },
} as const satisfies Record<string, Setting>

/** Limits that the stage sets for clinics without their own, which `default` returns to. */
const LIMITS = new Set(['sms-per-day', 'emails-per-day', 'messages-per-recipient', 'sms-countries'])

const SETTINGS: Readonly<Record<string, Setting>> = { ...REQUIRED, ...OPTIONAL }

/** The values of options, by their names in camel case. */
export type SettingValues = Readonly<Record<string, string>>

/** The options of a new clinic. */
export function addSettings(command: Command): Command {
  for (const [name, setting] of Object.entries(SETTINGS)) command.addOption(optionOf(name, setting))
  return command
}

/** The settings of a new clinic: of its options, and otherwise of an export. @throws CommandFailure naming what is missing or invalid */
export function newSettings(values: SettingValues, exported: Readonly<Record<string, unknown>>) {
  const copied = Object.entries(SETTINGS).flatMap(([name, { field }]) => {
    const value = exported[field]
    return value === undefined ? [] : [[optionName(name), Array.isArray(value) ? value.join() : value]]
  })
  const all = { duration: '30', ...Object.fromEntries(copied), ...values }
  const missing = Object.keys(REQUIRED).filter((name) => !(name in all))
  if (missing.length > 0)
    throw new CommandFailure(`Specify ${missing.map((name) => `--${name}`).join(', ')}.`)
  return settingsOf(all) as Pick<Clinic, 'name' | 'timezone' | 'currency' | 'appointmentMinutes'>
}

/** The options of a change. `--default` removes optional settings, and so does the value `default` of a limit. */
export function addChanges(command: Command): Command {
  for (const [name, setting] of Object.entries(SETTINGS)) {
    const isLimit = LIMITS.has(name)
    const description = setting.description.replace(/ \(default: .*\)$/, '')
    const withDefault = `${description}; "default" for the stage's limit`
    command.addOption(optionOf(name, isLimit ? { ...setting, description: withDefault } : setting))
  }
  return command.addOption(
    new Option('--default <settings...>', 'settings that are removed or return to their defaults').choices(
      Object.keys(OPTIONAL),
    ),
  )
}

const optionOf = (name: string, { value, description }: Setting): Option =>
  new Option(`--${name} <${value}>`, description)

/** The settings of options. @throws CommandFailure naming the option with an invalid value */
const settingsOf = (values: SettingValues): ClinicChanges =>
  Object.fromEntries(
    given(values).map(([name, { field, schema }, value]) => [field, parseOption(name, schema, value)]),
  )

/** The settings of options, and null for each that is removed. @throws CommandFailure when a setting is both */
export function changesOf({
  default: removed = [],
  ...values
}: SettingValues & { readonly default?: readonly string[] }): ClinicChanges {
  const both = given(values as SettingValues).find(([name]) => removed.includes(name))
  if (both) throw new CommandFailure(`Use --${both[0]} or --default ${both[0]}, not both.`)
  const isDefault = ([name, , value]: ReturnType<typeof given>[number]) =>
    LIMITS.has(name) && value === 'default'
  const reset = given(values as SettingValues)
    .filter(isDefault)
    .map(([name]) => name)
  const removals = [...removed, ...reset].map((name) => [SETTINGS[name]?.field, null])
  const set = Object.entries(values).filter(([name]) => !reset.some((one) => optionName(one) === name))
  return { ...settingsOf(Object.fromEntries(set)), ...Object.fromEntries(removals) }
}

/** The name under which commander returns the value of an option. */
const optionName = (name: string): string => new Option(`--${name}`).attributeName()

const given = (values: SettingValues): [name: string, setting: Setting, value: string][] =>
  Object.entries(SETTINGS).flatMap(([name, setting]) => {
    const value = values[optionName(name)]
    return value === undefined ? [] : [[name, setting, value] as [string, Setting, string]]
  })
