import type { Command } from 'commander'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { clinicTimestamp } from '../../shared/domain/timestamp.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { addDeletionCommand } from './clinic-deletion.ts'
import { addPauseCommands } from './clinic-pause.ts'
import { addChanges, addSettings, changesOf, type SettingValues, settingsOf } from './clinic-settings.ts'
import { connect, requireClinic } from './connection.ts'
import { CommandFailure, formatTable as lines, print } from './output.ts'

export function addClinicCommands(program: Command): void {
  const group = program.command('clinic').description('create, list and change clinics')

  addSettings(group.command('create').description('create a clinic')).action(
    async (settings: SettingValues, command: Command) => {
      const table = await connect(command)
      const clinic = {
        id: newUuid() as ClinicId,
        createdAt: new Date().toISOString(),
        ...(settingsOf(settings) as Omit<Clinic, 'id' | 'createdAt'>),
      }
      await clinicStore({ table }).create(clinic)
      print(command, clinicJson(clinic), [`Created clinic ${clinic.name}: ${clinic.id}`])
    },
  )

  group
    .command('list')
    .description('list the clinics')
    .action(async (_: object, command: Command) => {
      const clinics = await clinicStore({ table: await connect(command) }).list()
      const rows = clinics.map(({ id, name, timezone, currency }) => [id, name, timezone, currency])
      print(command, { data: clinics.map(clinicJson) }, lines(rows))
    })

  const set = group
    .command('set')
    .description("change a clinic's settings, effective immediately for all its credentials")
    .argument('<clinic>', 'clinic id')
  addChanges(set).action(async (id: string, settings: SettingValues, command: Command) => {
    const table = await connect(command)
    const changes = changesOf(settings)
    if (Object.keys(changes).length === 0)
      throw new CommandFailure('Nothing to change: specify at least one option.')
    const { id: clinicId } = await requireClinic(table, id)
    const clinic = await clinicStore({ table }).update(clinicId, changes)
    await credentialStore({ table, now: Date.now }).refreshClinic(clinic)
    print(command, clinicJson(clinic), [`Changed clinic ${clinic.name}`])
  })

  addPauseCommands(group)
  addDeletionCommand(group)
}

/** The clinic as commands print it. A limit is null where the stage's limit applies. */
const clinicJson = (clinic: Clinic) => ({
  id: clinic.id,
  name: clinic.name,
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
  paused_at: clinic.pausedAt ?? null,
  created_at: clinicTimestamp(clinic.createdAt, clinic.timezone),
})
