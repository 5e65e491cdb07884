import type { Command } from 'commander'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { setPaused } from '../../../shared/store/clinic-pause.ts'
import { excludePause } from '../../../shared/store/events/webhook-health.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { openClinic } from '../tool/connection.ts'
import { changeLine, print } from '../tool/output.ts'

/** Adds `clinic pause` and `clinic resume`. */
export function addPauseCommands(group: Command): void {
  group
    .command('pause')
    .description('reject writes of the API with 503, and hold emails and events; reads continue')
    .action(async (_: object, command: Command) => {
      const { table, clinic: before } = await openClinic(command)
      const { pausedAt } = await setPaused(table, before.id, before.pausedAt ?? instant(table))
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

const instant = (table: Table): string => new Date(table.now()).toISOString()
