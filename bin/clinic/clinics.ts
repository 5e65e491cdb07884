import type { Command } from 'commander'
import { isSupportedCountry } from 'libphonenumber-js/max'
import * as z from 'zod'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { singleLineText } from '../../shared/domain/text-fields.ts'
import { clinicTimestamp, isTimezone } from '../../shared/domain/timestamp.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { connect, requireClinic } from './connection.ts'
import { CommandFailure, formatTable as lines, parseOption, print } from './output.ts'

const Timezone = z.string().refine(isTimezone, { error: 'must be an IANA time zone such as Europe/Istanbul' })

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'))
const Currency = z
  .string()
  .toUpperCase()
  .refine((code) => CURRENCIES.has(code), { error: 'must be an ISO 4217 code such as EUR' })

const Minutes = z.coerce
  .number({ error: 'must be minutes from 5 to 480' })
  .int({ error: 'must be whole minutes' })
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

type Settings = {
  name: string
  timezone: string
  currency: string
  duration: string
  smsPerDay?: string
  emailsPerDay?: string
  smsCountries?: string
}

export function addClinicCommands(program: Command): void {
  const group = program.command('clinic').description('make, list and change clinics')

  group
    .command('create')
    .description('make a clinic')
    .requiredOption('--name <name>')
    .requiredOption('--timezone <zone>', 'IANA, e.g. Europe/Istanbul')
    .requiredOption('--currency <code>', 'ISO 4217, e.g. EUR')
    .option('--duration <minutes>', 'default appointment length', '30')
    .option('--sms-per-day <number>', "most SMS on one of its days; the stage's limit, if not given")
    .option('--emails-per-day <number>', "most emails on one of its days; the stage's limit, if not given")
    .option('--sms-countries <list>', "where its SMS may go, e.g. TR,DE; the stage's list, if not given")
    .action(async (settings: Settings, command: Command) => {
      const table = await connect(command)
      const clinic = {
        id: newUuid() as ClinicId,
        createdAt: new Date().toISOString(),
        ...(changesOf(settings) as Omit<Clinic, 'id' | 'createdAt'>),
      }
      await clinicStore({ table }).create(clinic)
      print(command, clinicJson(clinic), [`Clinic ${clinic.name} is ${clinic.id}`])
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
    .description("change a clinic's settings; its credentials learn of it at once")
    .argument('<clinic>', 'its id')
    .option('--name <name>')
    .option('--timezone <zone>')
    .option('--currency <code>')
    .option('--duration <minutes>', 'default appointment length')
    .option('--sms-per-day <number>', 'most SMS on one of its days')
    .option('--emails-per-day <number>', 'most emails on one of its days')
    .option('--sms-countries <list>', 'where its SMS may go, e.g. TR,DE')
    .action(async (id: string, settings: Partial<Settings>, command: Command) => {
      const table = await connect(command)
      const changes = changesOf(settings)
      if (Object.keys(changes).length === 0)
        throw new CommandFailure('Nothing to set: name an option to change.')
      const { id: clinicId } = await requireClinic(table, id)
      const clinic = await clinicStore({ table }).update(clinicId, changes)
      await credentialStore({ table, now: Date.now }).refreshClinic(clinic)
      print(command, clinicJson(clinic), [`Clinic ${clinic.name} is changed`])
    })
}

function changesOf(settings: Partial<Settings>): Partial<Clinic> {
  const { name, timezone, currency, duration, smsPerDay, emailsPerDay, smsCountries } = settings
  return {
    ...(name !== undefined && { name: parseOption('name', singleLineText(100), name) }),
    ...(timezone !== undefined && { timezone: parseOption('timezone', Timezone, timezone) }),
    ...(currency !== undefined && { currency: parseOption('currency', Currency, currency) }),
    ...(duration !== undefined && { appointmentMinutes: parseOption('duration', Minutes, duration) }),
    ...(smsPerDay !== undefined && { smsPerDay: parseOption('sms-per-day', DailyLimit, smsPerDay) }),
    ...(emailsPerDay !== undefined && {
      emailsPerDay: parseOption('emails-per-day', DailyLimit, emailsPerDay),
    }),
    ...(smsCountries !== undefined && {
      smsCountries: parseOption('sms-countries', Countries, smsCountries),
    }),
  }
}

/** What it sends has the stage's limits where it has none of its own. */
const clinicJson = (clinic: Clinic) => ({
  id: clinic.id,
  name: clinic.name,
  timezone: clinic.timezone,
  currency: clinic.currency,
  duration_minutes: clinic.appointmentMinutes,
  sms_per_day: clinic.smsPerDay ?? null,
  emails_per_day: clinic.emailsPerDay ?? null,
  sms_countries: clinic.smsCountries ?? null,
  created_at: clinicTimestamp(clinic.createdAt, clinic.timezone),
})
