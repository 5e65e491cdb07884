import type { Command } from 'commander'
import { parseDays, withDays, withoutDays } from './days-off.ts'
import { changeDoctor } from './doctor-changes.ts'
import { formatDays } from './doctor-text.ts'
import { CommandFailure } from './output.ts'

type TimeOffOptions = { clinic: string; add?: string; remove?: string }

/** Adds `time-off`. */
export function addTimeOffCommand(group: Command): void {
  group
    .command('time-off')
    .description('add or remove days off; lists the visits that are then outside')
    .argument('<doctor>', 'doctor id')
    .requiredOption('--clinic <id>')
    .option('--add <days>', 'e.g. "2026-12-24/2026-12-26; 2027-01-01"')
    .option('--remove <days>', 'days off exactly as they were added')
    .action((id: string, given: TimeOffOptions, command: Command) => {
      const [added, removed] = [parseDays('add', given.add ?? ''), parseDays('remove', given.remove ?? '')]
      return changeDoctor(id, given, command, (doctor) => {
        if (added.length + removed.length === 0)
          throw new CommandFailure(
            `Nothing to change: specify --add or --remove. Time off: ${formatDays(doctor.timeOff) || 'none'}`,
          )
        const kept = withoutDays('time off', doctor.timeOff, removed)
        return { ...doctor, timeOff: withDays('time off', kept, added) }
      })
    })
}
