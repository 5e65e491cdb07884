import type { Command } from 'commander'
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { excludePause } from '../../../shared/store/events/webhook-health.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { openClinic } from '../tool/connection.ts'
import { print } from '../tool/output.ts'

/** Adds `clinic pause` and `clinic resume`. */
export function addPauseCommands(group: Command): void {
  group
    .command('pause')
    .description('reject writes of the API with 503, and hold emails and events; reads continue')
    .action(async (_: object, command: Command) => {
      const { table, clinic: before } = await openClinic(command)
      const { pausedAt } = await setPaused(table, before.id, before.pausedAt ?? instant(table))
      const since = pausedAt === undefined ? null : clinicTimestamp(pausedAt, before.timezone)
      const line =
        before.pausedAt === undefined
          ? `Paused clinic ${before.name}. Its emails and events wait; "clinic resume" ends the pause.`
          : `Nothing changed: clinic ${before.name} has been paused since ${since}.`
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

const instant = (table: Table): string => new Date(table.now()).toISOString()

/** Pauses a clinic, or ends its pause. Takes effect at the next request of each credential. @throws ClinicBeingDeleted */
export async function setPaused(table: Table, id: ClinicId, pausedAt: string | null): Promise<Clinic> {
  const clinics = clinicStore({ table })
  const credentials = credentialStore({ table, now: table.now })
  const isNew = pausedAt === null || (await clinics.find(id))?.pausedAt === undefined
  const clinic = await clinics.update(id, { pausedAt, ...(isNew && { pauseInEffectAt: null }) })
  const allowedWrites = (await credentials.list(id)).some(({ clinic: copy }) => copy.pausedAt === undefined)
  // The copies are refreshed even if the clinic did not change: an earlier run may have stopped before this line.
  await credentials.refreshClinic(clinic)
  if (pausedAt === null || (clinic.pauseInEffectAt !== undefined && !allowedWrites)) return clinic
  return clinics.update(id, { pauseInEffectAt: instant(table) })
}
