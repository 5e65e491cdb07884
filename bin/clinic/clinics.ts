import { type Command, Option } from 'commander'
import { isSupportedCountry } from 'libphonenumber-js/max'
import * as z from 'zod'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { CURRENCIES } from '../../shared/domain/currencies.ts'
import { emailAddress, singleLineText } from '../../shared/domain/text-fields.ts'
import { clinicTimestamp, isTimezone } from '../../shared/domain/timestamp.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { type ClinicChanges, clinicStore } from '../../shared/store/clinics.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { connect, requireClinic } from './connection.ts'
import { CommandFailure, formatTable as lines, parseOption, print } from './output.ts'

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

/** Settings with a default, by the name of their option. */
const OPTIONAL_SETTINGS = {
  'sms-per-day': 'smsPerDay',
  'emails-per-day': 'emailsPerDay',
  'messages-per-recipient': 'messagesPerRecipient',
  'sms-countries': 'smsCountries',
  'email-from-name': 'emailFromName',
  'reply-to': 'replyTo',
} as const satisfies Record<string, keyof Clinic>

type OptionalSetting = keyof typeof OPTIONAL_SETTINGS

type Settings = {
  name: string
  timezone: string
  currency: string
  duration: string
  smsPerDay?: string
  emailsPerDay?: string
  messagesPerRecipient?: string
  smsCountries?: string
  emailFromName?: string
  replyTo?: string
}

export function addClinicCommands(program: Command): void {
  const group = program.command('clinic').description('create, list and change clinics')

  group
    .command('create')
    .description('create a clinic')
    .requiredOption('--name <name>')
    .requiredOption('--timezone <zone>', 'IANA, e.g. Europe/Istanbul')
    .requiredOption('--currency <code>', 'ISO 4217, e.g. EUR')
    .option('--duration <minutes>', 'default appointment length', '30')
    .option(
      '--sms-per-day <number>',
      "maximum number of SMS per clinic-local day (default: the stage's limit)",
    )
    .option(
      '--emails-per-day <number>',
      "maximum number of emails per clinic-local day (default: the stage's limit)",
    )
    .option(
      '--messages-per-recipient <number>',
      "maximum number of SMS, and of emails, per recipient and clinic-local day (default: the stage's limit)",
    )
    .option(
      '--sms-countries <list>',
      "countries that it may send SMS to, e.g. TR,DE (default: the stage's list)",
    )
    .option('--email-from-name <name>', "sender's name of its emails (default: its name)")
    .option('--reply-to <address>', "where replies to its emails go (default: the sender's address)")
    .action(async (settings: Settings, command: Command) => {
      const table = await connect(command)
      const clinic = {
        id: newUuid() as ClinicId,
        createdAt: new Date().toISOString(),
        ...(changesOf(settings) as Omit<Clinic, 'id' | 'createdAt'>),
      }
      await clinicStore({ table }).create(clinic)
      print(command, clinicJson(clinic), [`Created clinic ${clinic.name}: ${clinic.id}`])
    })

  group
    .command('list')
    .description('list the clinics')
    .action(async (_: object, command: Command) => {
      const clinics = await clinicStore({ table: await connect(command) }).list()
      const rows = clinics.map(({ id, name, timezone, currency }) => [id, name, timezone, currency])
      print(command, { data: clinics.map(clinicJson) }, lines(rows))
    })

  group
    .command('set')
    .description("change a clinic's settings, effective immediately for all its credentials")
    .argument('<clinic>', 'clinic id')
    .option('--name <name>')
    .option('--timezone <zone>')
    .option('--currency <code>')
    .option('--duration <minutes>', 'default appointment length')
    .option('--sms-per-day <number>', 'maximum number of SMS per clinic-local day')
    .option('--emails-per-day <number>', 'maximum number of emails per clinic-local day')
    .option('--messages-per-recipient <number>', 'the same for each recipient, of each channel')
    .option('--sms-countries <list>', 'countries that it may send SMS to, e.g. TR,DE')
    .option('--email-from-name <name>', "sender's name of its emails")
    .option('--reply-to <address>', 'where replies to its emails go')
    .addOption(
      new Option('--default <settings...>', 'settings that return to their defaults').choices(
        Object.keys(OPTIONAL_SETTINGS),
      ),
    )
    .action(async (id: string, settings: ChangedSettings, command: Command) => {
      const table = await connect(command)
      const changes = { ...changesOf(settings), ...removalsOf(settings) }
      if (Object.keys(changes).length === 0)
        throw new CommandFailure('Nothing to change: specify at least one option.')
      const { id: clinicId } = await requireClinic(table, id)
      const clinic = await clinicStore({ table }).update(clinicId, changes)
      await credentialStore({ table, now: Date.now }).refreshClinic(clinic)
      print(command, clinicJson(clinic), [`Changed clinic ${clinic.name}`])
    })
}

type ChangedSettings = Partial<Settings> & { readonly default?: readonly OptionalSetting[] }

/** @throws CommandFailure when a setting has both a value and its default */
function removalsOf({ default: removed = [], ...settings }: ChangedSettings): ClinicChanges {
  const both = removed.find((name) => settings[OPTIONAL_SETTINGS[name]] !== undefined)
  if (both) throw new CommandFailure(`Use --${both} or --default ${both}, not both.`)
  return Object.fromEntries(removed.map((name) => [OPTIONAL_SETTINGS[name], null]))
}

function changesOf(settings: Partial<Settings>): Partial<Clinic> {
  const { name, timezone, currency, duration, smsPerDay, emailsPerDay, messagesPerRecipient, smsCountries } =
    settings
  const { emailFromName, replyTo } = settings
  return {
    ...(name !== undefined && { name: parseOption('name', singleLineText(100), name) }),
    ...(timezone !== undefined && { timezone: parseOption('timezone', Timezone, timezone) }),
    ...(currency !== undefined && { currency: parseOption('currency', Currency, currency) }),
    ...(duration !== undefined && { appointmentMinutes: parseOption('duration', Minutes, duration) }),
    ...(smsPerDay !== undefined && { smsPerDay: parseOption('sms-per-day', DailyLimit, smsPerDay) }),
    ...(emailsPerDay !== undefined && {
      emailsPerDay: parseOption('emails-per-day', DailyLimit, emailsPerDay),
    }),
    ...(messagesPerRecipient !== undefined && {
      messagesPerRecipient: parseOption('messages-per-recipient', DailyLimit, messagesPerRecipient),
    }),
    ...(smsCountries !== undefined && {
      smsCountries: parseOption('sms-countries', Countries, smsCountries),
    }),
    ...(emailFromName !== undefined && {
      emailFromName: parseOption('email-from-name', singleLineText(100), emailFromName),
    }),
    ...(replyTo !== undefined && { replyTo: parseOption('reply-to', emailAddress, replyTo) }),
  }
}

/** The clinic as commands print it. A limit is null where the stage's limit applies. */
const clinicJson = (clinic: Clinic) => ({
  id: clinic.id,
  name: clinic.name,
  timezone: clinic.timezone,
  currency: clinic.currency,
  duration_minutes: clinic.appointmentMinutes,
  sms_per_day: clinic.smsPerDay ?? null,
  emails_per_day: clinic.emailsPerDay ?? null,
  messages_per_recipient: clinic.messagesPerRecipient ?? null,
  sms_countries: clinic.smsCountries ?? null,
  email_from_name: clinic.emailFromName ?? null,
  reply_to: clinic.replyTo ?? null,
  created_at: clinicTimestamp(clinic.createdAt, clinic.timezone),
})
