import { basename, dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import { type Clinic, clinicIdOf } from '../../../shared/domain/clinic.ts'
import { fold } from '../../../shared/domain/patients/search-text.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { UNREADABLE_SETTINGS } from '../../../shared/maintenance/verify/verify-clinics.ts'
import { setPaused } from '../../../shared/store/clinic-pause.ts'
import { type ClinicChanges, clinicStore, type StoredClinic } from '../../../shared/store/clinics.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { excludePause } from '../../../shared/store/events/webhook-health.ts'
import { clinicKey } from '../../../shared/store/keys/clinics.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { UnreadableRecord } from '../../../shared/store/table/unreadable-record.ts'
import { MANIFEST, readManifest } from '../export/manifest.ts'
import { nameOf } from '../tool/command-trail.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import {
  type ClinicContext,
  chooseClinic,
  connect,
  openClinic,
  requireStoredClinic,
} from '../tool/connection.ts'
import { requireChange } from '../tool/fields.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { changeLine, formatTable as lines, nameClinic, print } from '../tool/output.ts'
import { describeRecord } from '../tool/record-text.ts'
import { guardWrites, requireNoReplacement } from '../tool/write-guard.ts'
import { addDeletionCommand } from './clinic-deletion.ts'
import { addSettings, newSettings, settingsOf } from './clinic-settings.ts'

export function addClinicCommands(group: Command): void {
  const create = addSettings(group.command('create').description('create a clinic'))
    .option('--from <manifest>', 'manifest.json of an export: its settings, for those that are not given')
    .option('--test', 'a test clinic, whose messages are simulated; it stays one')
  addYesOption(create).action(
    async ({ yes: _, from, test: isTest, ...settings }: NewClinicOptions, command: Command) => {
      const exported = from === undefined ? {} : exportedSettings(from)
      const given = newSettings(settings, exported)
      const test = isTest ?? exported.isTest === true
      const table = await connect(command)
      await confirmName(table, given.name, null, command)
      await requireNoReplacement(table)
      const clinic: Clinic = {
        id: clinicIdOf(newUuid()),
        createdAt: new Date().toISOString(),
        ...given,
        ...(test && { isTest: test }),
      }
      await clinicStore({ table }).create(clinic)
      nameClinic(command, clinic)
      print(command, clinicJson(clinic), [
        `Created ${test ? 'test ' : ''}clinic ${clinic.name}: ${clinic.id}`,
      ])
    },
  )

  group
    .command('list')
    .description('list the clinics')
    .action(async (_: object, command: Command) => {
      const { clinics, unreadable } = await clinicStore({ table: await connect(command) }).listReadable()
      const rows = clinics.map(({ id, name, timezone, currency, isTest }) => [
        id,
        name,
        timezone,
        currency,
        isTest ? 'test' : '',
      ])
      const damaged = unreadable.map((id) => ({ id, error: UNREADABLE_SETTINGS }))
      print(command, { data: [...clinics.map(clinicJson), ...damaged] }, [
        ...lines(rows),
        ...damaged.map(({ id, error }) => `${id}  ${error}: "verify --clinic ${id}" says which`),
      ])
    })

  group
    .command('show')
    .description('show the settings of a clinic')
    .action(async (_: object, command: Command) => {
      const { clinic } = await openClinic(command)
      print(command, clinicJson(clinic), describeRecord(clinicJson(clinic)))
    })

  addUpdateCommand(group)
  addPauseCommands(group)
  addDeletionCommand(group)
}

type NewClinicOptions = { readonly yes: boolean; readonly from?: string; readonly test?: true }

/** The settings of an exported clinic, of the manifest or its folder. @throws CommandFailure without a manifest */
function exportedSettings(file: string): Readonly<Record<string, unknown>> {
  const path = resolveFromInvocationDir(file)
  return readManifest(basename(path) === MANIFEST ? dirname(path) : path).clinic
}

function addUpdateCommand(group: Command): void {
  const update = group
    .command('update')
    .description("change a clinic's settings, effective immediately for all its credentials")
  addYesOption(addSettings(update)).action(async (given: object, command: Command) => {
    requireChange({ ...given })
    const wanted = settingsOf(given)
    const { table, clinic: before } = await openSettings(command)
    const changes = differingSettings(before, wanted)
    const isChanged = Object.keys(changes).length > 0
    if (isChanged) await confirmChanges(table, before, changes, command)
    // A run that was interrupted has set them, but may not have reached every credential.
    const clinic = isChanged
      ? await clinicStore({ table }).update(before.id, changes, true)
      : await requireStoredClinic(table, before.id)
    await credentialStore({ table, now: Date.now }).refreshClinic(clinic)
    print(command, { ...clinicJson(clinic), changed: isChanged }, [
      changeLine(
        isChanged,
        `Changed clinic ${clinic.name}`,
        `clinic ${clinic.name} has these values already`,
      ),
    ])
  })
}

/** The settings as they are stored, even if they cannot be read: what is missing or wrong can be set. */
async function openSettings(command: Command): Promise<ClinicContext> {
  try {
    return await openClinic(command)
  } catch (error) {
    const id = await chooseClinic(command)
    const table = await connect(command)
    const item = error instanceof UnreadableRecord ? await table.get(clinicKey(id)) : undefined
    if (!item) throw error
    guardWrites(table, id, nameOf(command))
    return { table, clinic: { ...item, id } as typeof item & StoredClinic }
  }
}

/** The changes that differ from what is stored. */
const differingSettings = (clinic: Clinic, changes: ClinicChanges): ClinicChanges =>
  Object.fromEntries(
    Object.entries(changes).filter(
      ([field, value]) => !isDeepStrictEqual(clinic[field as keyof Clinic] ?? null, value),
    ),
  )

/** Asks before two clinics have one name. @throws CommandFailure unless that is confirmed */
async function confirmName(table: Table, name: string, own: Clinic | null, command: Command): Promise<void> {
  const { clinics } = await clinicStore({ table }).listReadable()
  const same = clinics.filter((one) => one.id !== own?.id && fold(one.name) === fold(name))
  if (same.length === 0) return
  await confirm(command, [
    `There is a clinic of this name already: ${same.map(({ id }) => id).join(', ')}. Then two have it, and only their ids tell them apart.`,
  ])
}

/** Asks before changes that concern what is stored already. @throws CommandFailure unless they are confirmed */
async function confirmChanges(
  table: Table,
  clinic: Clinic,
  { name, timezone, currency }: ClinicChanges,
  command: Command,
): Promise<void> {
  if (name) await confirmName(table, name, clinic, command)
  const consequences = [
    ...(timezone && clinic.timezone
      ? [
          `The time zone of ${clinic.name} changes from ${clinic.timezone} to ${timezone}.`,
          '  Dates and clock times stay, which are other instants in the new zone: of appointments, working hours, days off and holidays.',
          '  Dates of invoices and payments stay. Times such as created_at stay the same instants, and are shown in the new zone.',
        ]
      : []),
    ...(currency && clinic.currency
      ? [
          `The currency of ${clinic.name} changes from ${clinic.currency} to ${currency}.`,
          '  Nothing is converted: invoices, payments, treatments and price lists keep their currency and amounts.',
        ]
      : []),
  ]
  if (consequences.length > 0) await confirm(command, consequences)
}

/** Adds `clinic pause` and `clinic resume`. */
function addPauseCommands(group: Command): void {
  group
    .command('pause')
    .description('reject writes of the API with 503, and hold emails and events; reads continue')
    .action(async (_: object, command: Command) => {
      const { table, clinic: before } = await openClinic(command)
      const at = before.pausedAt ?? new Date(table.now()).toISOString()
      const { pausedAt } = await setPaused(table, before.id, at)
      const since = pausedAt === undefined ? null : clinicTimestamp(pausedAt, before.timezone)
      const line = changeLine(
        before.pausedAt === undefined,
        `Paused clinic ${before.name}. Its emails and events wait; "clinic resume" ends the pause.`,
        `clinic ${before.name} has been paused since ${since}.`,
      )
      print(command, { clinic_id: before.id, paused_at: since }, [line])
    })

  group
    .command('resume')
    .description('end the pause of a clinic; what waited is processed within minutes')
    .action(async (_: object, command: Command) => {
      const { table, clinic: before } = await openClinic(command)
      if (before.pausedAt !== undefined)
        await excludePause(table, before.id, Date.parse(before.pausedAt), table.now())
      await setPaused(table, before.id, null)
      const line =
        before.pausedAt === undefined
          ? `Nothing changed: clinic ${before.name} is not paused.`
          : `Resumed clinic ${before.name}, which was paused since ${clinicTimestamp(before.pausedAt, before.timezone)}.`
      print(command, { clinic_id: before.id, paused_at: null }, [line])
    })
}

/** The clinic as commands print it. A limit is null where the stage's limit applies. */
const clinicJson = (clinic: Clinic) => ({
  id: clinic.id,
  name: clinic.name,
  is_test: clinic.isTest ?? false,
  timezone: clinic.timezone,
  currency: clinic.currency,
  duration_minutes: clinic.appointmentMinutes,
  address: clinic.address ?? null,
  phone_number: clinic.phoneNumber ?? null,
  email_address: clinic.emailAddress ?? null,
  website: clinic.website ?? null,
  sms_per_day: clinic.smsPerDay ?? null,
  emails_per_day: clinic.emailsPerDay ?? null,
  messages_per_recipient: clinic.messagesPerRecipient ?? null,
  sms_countries: clinic.smsCountries ?? null,
  email_from_name: clinic.emailFromName ?? null,
  reply_to: clinic.replyTo ?? null,
  paused_at: localTime(clinic.pausedAt, clinic),
  pause_in_effect_at: localTime(clinic.pauseInEffectAt, clinic),
  deleting_at: localTime(clinic.deletingAt, clinic),
  created_at: clinicTimestamp(clinic.createdAt, clinic.timezone),
})

const localTime = (instant: string | undefined, { timezone }: Clinic): string | null =>
  instant === undefined ? null : clinicTimestamp(instant, timezone)
