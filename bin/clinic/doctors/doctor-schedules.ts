import type { Command } from 'commander'
import { CalendarDate } from '../../../shared/api/schemas.ts'
import type { Doctor } from '../../../shared/domain/booking/doctor.ts'
import { formatExceptions } from '../../../shared/domain/booking/doctor-days.ts'
import { exceptions, weeklyHours } from '../import/entities/doctors.ts'
import { CommandFailure, parseOption } from '../tool/output.ts'
import { parseDays, withDays, withoutDays } from './days-off.ts'
import { changeDoctor } from './doctor-changes.ts'
import { formatDays } from './doctor-text.ts'

type ScheduleOptions = {
  clinic: string
  hours?: string
  breaks?: string
  exception?: string[]
  removeException?: string[]
}

/** Adds `schedule`. */
export function addScheduleCommand(group: Command): void {
  group
    .command('schedule')
    .description(
      "change a doctor's weekly hours, or the hours of single days; lists the appointments that are then outside",
    )
    .argument('<doctor>', 'doctor id')
    .requiredOption('--clinic <id>')
    .option('--hours <week>')
    .option('--breaks <week>', '"" removes all breaks')
    .option(
      '--exception <day...>',
      'hours of a single day: "2026-12-24 09:00-12:00"; a date without hours is a day off',
    )
    .option('--remove-exception <date...>', 'dates that have the hours of the week again')
    .action((id: string, given: ScheduleOptions, command: Command) => {
      const { hours, breaks, exception, removeException } = given
      if ([hours, breaks, exception, removeException].every((one) => one === undefined))
        throw new CommandFailure(
          'Nothing to change: specify --hours, --breaks, --exception or --remove-exception.',
        )
      return changeDoctor(id, given, command, (doctor) => ({ ...doctor, ...scheduleOf(doctor, given) }))
    })
}

function scheduleOf(
  doctor: Doctor,
  { hours, breaks, exception = [], removeException = [] }: ScheduleOptions,
): Partial<Doctor> {
  const week = (name: string, text: string) => (text === '' ? {} : parseOption(name, weeklyHours, text))
  const days = exception.map((text) => parseOption('exception', exceptions, text))
  const removed = removeException.map((date) => parseOption('remove-exception', CalendarDate, date.trim()))
  const missing = removed.filter((date) => doctor.exceptions[date] === undefined)
  if (missing.length > 0)
    throw new CommandFailure(
      `Nothing was changed: ${missing.join(', ')} is not an exception. Exceptions: ${formatExceptions(doctor.exceptions) || 'none'}`,
    )
  const kept = Object.entries(doctor.exceptions).filter(([date]) => !removed.includes(date))
  return {
    ...(hours !== undefined && { hours: week('hours', hours) }),
    ...(breaks !== undefined && { breaks: week('breaks', breaks) }),
    exceptions: Object.assign(Object.fromEntries(kept), ...days),
  }
}

type TimeOffOptions = { clinic: string; add?: string; remove?: string }

/** Adds `time-off`. */
export function addTimeOffCommand(group: Command): void {
  group
    .command('time-off')
    .description('add or remove days off; lists the appointments that are then outside')
    .argument('<doctor>', 'doctor id')
    .requiredOption('--clinic <id>')
    .option('--add <days>', 'e.g. "2026-12-24/2026-12-26; 2027-01-01"')
    .option('--remove <days>', 'days off exactly as they were added')
    .action((id: string, given: TimeOffOptions, command: Command) => {
      const added = parseDays('add', given.add ?? '')
      const removed = parseDays('remove', given.remove ?? '')
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
