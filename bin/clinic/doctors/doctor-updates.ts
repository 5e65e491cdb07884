/** `doctor update`: what a doctor is called and belongs to, when the doctor works, and whether bookings are possible. */
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import { CalendarDate } from '../../../shared/api/schemas.ts'
import { departmentProblems } from '../../../shared/domain/booking/catalogue.ts'
import type { Doctor } from '../../../shared/domain/booking/doctor.ts'
import { formatExceptions } from '../../../shared/domain/booking/doctor-days.ts'
import { departmentStore } from '../../../shared/store/catalogue.ts'
import { doctorStore, type StoredDoctor } from '../../../shared/store/doctors.ts'
import { retryOnConflict } from '../../../shared/store/table/retry-on-conflict.ts'
import {
  comingAppointments,
  describeAppointments,
  isInside,
} from '../appointments/appointments-outside-hours.ts'
import { exceptions, weeklyHours } from '../import/entities/doctors.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { CommandFailure, idOrNone, parseOption, print } from '../tool/output.ts'
import { parseDays, withDays, withoutDays } from './days-off.ts'
import { doctorJson } from './doctor-text.ts'

type UpdateOptions = {
  department?: string
  hours?: string
  breaks?: string
  exception?: string[]
  removeException?: string[]
  addTimeOff?: string
  removeTimeOff?: string
  active?: boolean
}

/** Adds `update`. */
export function addDoctorUpdate(group: Command): void {
  group
    .command('update')
    .description('change a doctor; lists the appointments that are then outside working hours')
    .argument('<doctor>', 'doctor id')
    .option('--department <id>', 'department id; "" for none')
    .option('--hours <week>', 'e.g. "mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00"')
    .option('--breaks <week>', '"" removes all breaks')
    .option(
      '--exception <day...>',
      'hours of a single day: "2026-12-24 09:00-12:00"; a date without hours is a day off',
    )
    .option('--remove-exception <date...>', 'dates that have the hours of the week again')
    .option('--add-time-off <days>', 'e.g. "2026-12-24/2026-12-26; 2027-01-01"')
    .option('--remove-time-off <days>', 'days off exactly as they were added')
    .option('--active', 'bookings are possible')
    .option('--no-active', 'they are not; lists the appointments that are still scheduled')
    .action(updateDoctor)
}

/** Updates a doctor, again from a fresh read if another command has changed it. Lists the appointments that it leaves outside
 * working hours, or without an active doctor. */
async function updateDoctor(
  id: string,
  { clinic: _, ...given }: UpdateOptions & { clinic?: string },
  command: Command,
): Promise<void> {
  if (Object.keys(given).length === 0)
    throw new CommandFailure('Nothing to change: specify at least one option.')
  const context = await openClinic(command)
  const { before, after, isChanged } = await retryOnConflict(async () => {
    const before = await requireDoctor(context, id)
    const { version: _, ...doctor } = before
    const after = { ...doctor, ...(await changesOf(doctor, given, context)) }
    const isChanged = !isDeepStrictEqual(after, doctor)
    if (isChanged) await doctorStore(context).save(context.clinic.id, [{ before, after }])
    return { before, after, isChanged }
  })
  const isDeactivated = before.isActive && !after.isActive
  const outside = isChanged
    ? await comingAppointments(
        context,
        { doctor: after.id },
        (appointment) =>
          isDeactivated ||
          (isInside(before, appointment, context.clinic) && !isInside(after, appointment, context.clinic)),
      )
    : []
  print(command, { ...doctorJson(after), changed: isChanged, appointments_outside: outside }, [
    isChanged
      ? `Changed doctor ${after.fullName}`
      : `Nothing changed: doctor ${after.fullName} has these values already`,
    ...describeAppointments(context, outside, isDeactivated ? 'without an active doctor' : undefined),
  ])
}

/** The doctor with this id. @throws CommandFailure if there is none */
async function requireDoctor({ table, clinic }: ClinicContext, id: string): Promise<StoredDoctor> {
  const doctor = await doctorStore({ table }).find(clinic.id, id.toLowerCase())
  if (!doctor)
    throw new CommandFailure(`The clinic has no doctor ${id}. Run "doctor list" to see all doctors.`)
  return doctor
}

async function changesOf(
  doctor: Doctor,
  { department, hours, breaks, active, ...days }: UpdateOptions,
  context: ClinicContext,
): Promise<Partial<Doctor>> {
  const week = (name: string, text: string) => (text === '' ? {} : parseOption(name, weeklyHours, text))
  return {
    ...(department !== undefined && { departmentId: await requireDepartment(context, department) }),
    ...(hours !== undefined && { hours: week('hours', hours) }),
    ...(breaks !== undefined && { breaks: week('breaks', breaks) }),
    ...(active !== undefined && { isActive: active }),
    exceptions: exceptionsOf(doctor, days),
    timeOff: timeOffOf(doctor, days),
  }
}

function exceptionsOf(
  doctor: Doctor,
  { exception = [], removeException = [] }: UpdateOptions,
): Doctor['exceptions'] {
  const days = exception.map((text) => parseOption('exception', exceptions, text))
  const removed = removeException.map((date) => parseOption('remove-exception', CalendarDate, date.trim()))
  const missing = removed.filter((date) => doctor.exceptions[date] === undefined)
  if (missing.length > 0 && missing.length < removed.length)
    throw new CommandFailure(
      `Nothing was changed: ${missing.join(', ')} is not an exception. Exceptions: ${formatExceptions(doctor.exceptions)}`,
    )
  const kept = Object.entries(doctor.exceptions).filter(([date]) => !removed.includes(date))
  return Object.assign(Object.fromEntries(kept), ...days)
}

function timeOffOf(
  { timeOff }: Doctor,
  { addTimeOff = '', removeTimeOff = '' }: UpdateOptions,
): Doctor['timeOff'] {
  const kept = withoutDays('time off', timeOff, parseDays('remove-time-off', removeTimeOff))
  return withDays('time off', kept, parseDays('add-time-off', addTimeOff))
}

/** The id of a department of the clinic; null for "". @throws CommandFailure if there is none */
export async function requireDepartment(
  { table, clinic }: ClinicContext,
  option: string,
): Promise<string | null> {
  const departmentId = idOrNone(option)
  const known = new Set((await departmentStore({ table }).list(clinic.id)).map(({ id }) => id))
  for (const { issue } of departmentProblems({ departmentId }, known))
    throw new CommandFailure(`--department ${issue}`)
  return departmentId
}
