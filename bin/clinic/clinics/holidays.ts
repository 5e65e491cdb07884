/** Holidays of a whole clinic. */
import type { Command } from 'commander'
import type { TimeOff } from '../../../shared/domain/booking/doctor.ts'
import { dayOffReason, formatSpan } from '../../../shared/domain/booking/doctor-days.ts'
import { copiedNames } from '../../../shared/store/copies/copied-names.ts'
import { holidayStore, MAX_HOLIDAYS } from '../../../shared/store/holidays.ts'
import { newTimeOff, timeOff } from '../../../shared/sync/entities/doctors.ts'
import { appointmentsOutsideHours, describeAppointments } from '../appointments/appointments-outside-hours.ts'
import { withDays, withoutDays } from '../doctors/days-off.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { CommandFailure, counted, formatTable, parseArgument, parseOption, print } from '../tool/output.ts'

export function addHolidayCommands(group: Command): void {
  group
    .command('create')
    .description('add holidays, and list the appointments on them; run it again if it was interrupted')
    .argument('<days>', 'e.g. "2026-12-24/2026-12-26; 2027-01-01"')
    .option('--name <text>', 'the name of the holiday')
    .action(async (text: string, { name }: { name?: string }, command: Command) => {
      const reason = name === undefined ? null : parseOption('name', dayOffReason, name)
      const added = requireDays(text, newTimeOff).map((day) => ({ ...day, reason: reason ?? day.reason }))
      const context = await openClinic(command)
      const outcome = await setHolidays(context, (days) => withinLimit(withDays('a holiday', days, added)))
      const outside = await appointmentsOn(context, added)
      const lines = describeAppointments(context, outside)
      await printHolidays(command, context, { ...outcome, appointments_outside: outside }, lines)
    })

  group
    .command('delete')
    .description('remove holidays; run it again if it was interrupted')
    .argument('<days>', 'holidays exactly as they were added')
    .action(async (text: string, _: object, command: Command) => {
      const removed = requireDays(text)
      const context = await openClinic(command)
      const outcome = await setHolidays(context, (days) => withoutDays('a holiday', days, removed))
      await printHolidays(command, context, outcome)
    })

  group
    .command('list')
    .description("list a clinic's holidays")
    .action(async (_: object, command: Command) => {
      const context = await openClinic(command)
      const stale = await holidayStore(context).withoutCopy(context.clinic.id)
      const notes = stale.map(
        ({ id, fullName }) =>
          `Doctor ${fullName} ${id} does not have them yet: run the command that was interrupted again.`,
      )
      await printHolidays(command, context, { doctors_behind: stale.map(({ id }) => id) }, notes)
    })
}

/** Sets the holidays, and copies them to the doctors who lack them. */
async function setHolidays(
  { table, clinic }: ClinicContext,
  change: (days: readonly TimeOff[]) => TimeOff[],
) {
  const changed = await holidayStore({ table }).set(clinic.id, change)
  return { changed, doctors: await copiedNames(table).refreshHolidays(clinic.id) }
}

function requireDays(text: string, schema = timeOff) {
  const days = parseArgument(text, schema, text)
  if (days.some(({ times }) => times)) throw new CommandFailure('Holidays are whole days, without times')
  if (days.length === 0) throw new CommandFailure('Specify the days, such as 2026-12-24/2026-12-26')
  return days
}

function withinLimit(days: TimeOff[]): TimeOff[] {
  if (days.length > MAX_HOLIDAYS)
    throw new CommandFailure(
      `Nothing was changed: a clinic can have ${MAX_HOLIDAYS} holidays. Remove past ones first.`,
    )
  return days
}

/** The appointments on these days, of all doctors, earliest first. */
async function appointmentsOn(
  context: ClinicContext,
  days: readonly { readonly from: string; readonly to: string }[],
) {
  const outside = await appointmentsOutsideHours(context)
  return outside.filter(({ appointment_date: date }) =>
    days.some(({ from, to }) => from <= date && date <= to),
  )
}

async function printHolidays(
  command: Command,
  context: ClinicContext,
  more: { readonly changed?: boolean; readonly doctors?: number; readonly [other: string]: unknown },
  lines: readonly string[] = [],
): Promise<void> {
  const days = await holidayStore(context).list(context.clinic.id)
  const data = days.map(({ from, to, reason }) => ({ from, to, name: reason }))
  const rows = data.map(({ from, to, name }) => [formatSpan({ from, to }), name ?? ''])
  const { changed, doctors = 0 } = more
  const outcome =
    changed || doctors > 0 ? `Changed the holidays of ${counted(doctors, 'doctor')}` : 'Nothing changed'
  print(command, { clinic_id: context.clinic.id, data, ...more }, [
    ...(changed === undefined ? [] : [outcome]),
    ...(rows.length === 0 ? ['No holidays'] : formatTable(rows)),
    ...lines,
  ])
}
