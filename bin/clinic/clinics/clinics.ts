import { basename, dirname } from 'node:path'
import type { Command } from 'commander'
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { MANIFEST, readManifest } from '../export/manifest.ts'
import { describeRecord } from '../records/record-text.ts'
import { addYesOption } from '../tool/confirmation.ts'
import { connect, openClinic } from '../tool/connection.ts'
import { requireChange } from '../tool/fields.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { changeLine, formatTable as lines, nameClinic, print } from '../tool/output.ts'
import { requireNoReplacement } from '../tool/write-guard.ts'
import { confirmChanges, confirmName, differingSettings } from './clinic-change-checks.ts'
import { addDeletionCommand } from './clinic-deletion.ts'
import { addPauseCommands } from './clinic-pause.ts'
import { addChanges, addSettings, changesOf, newSettings } from './clinic-settings.ts'

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
        id: newUuid() as ClinicId,
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
      const clinics = await clinicStore({ table: await connect(command) }).list()
      const rows = clinics.map(({ id, name, timezone, currency, isTest }) => [
        id,
        name,
        timezone,
        currency,
        isTest ? 'test' : '',
      ])
      print(command, { data: clinics.map(clinicJson) }, lines(rows))
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
  addYesOption(addChanges(update)).action(async (given: object, command: Command) => {
    requireChange({ ...given })
    const wanted = changesOf(given)
    const { table, clinic: before } = await openClinic(command)
    const changes = differingSettings(before, wanted)
    const isChanged = Object.keys(changes).length > 0
    if (isChanged) await confirmChanges(table, before, changes, command)
    // A run that was interrupted has set them, but may not have reached every credential.
    const clinic = isChanged ? await clinicStore({ table }).update(before.id, changes) : before
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
