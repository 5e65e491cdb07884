import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import * as z from 'zod'
import { CalendarDate } from '../../../shared/api/schemas.ts'
import { departmentProblems } from '../../../shared/domain/booking/catalogue.ts'
import { type Doctor, NEW_DOCTOR } from '../../../shared/domain/booking/doctor.ts'
import {
  doctorName,
  formatExceptions,
  formatTimeOff,
  specialty,
} from '../../../shared/domain/booking/doctor-days.ts'
import { worksDuring } from '../../../shared/domain/booking/slots.ts'
import { formatWeeklyHours } from '../../../shared/domain/booking/working-hours.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { departmentStore } from '../../../shared/store/catalogue.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { retryOnConflict } from '../../../shared/store/table/retries.ts'
import { exceptions, newTimeOff, weeklyHours } from '../../../shared/sync/entities/doctors.ts'
import { comingAppointments, describeAppointments } from '../appointments/appointments-outside-hours.ts'
import { requireRecord } from '../records/change-record.ts'
import { addLinkCommands } from '../records/record-links.ts'
import { addSmallResource, type SmallResource } from '../records/resource-commands.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { addFields, type Fields, fieldsOf, NONE, requireChange } from '../tool/fields.ts'
import { CommandFailure, changeLine, parseOption, print } from '../tool/output.ts'
import { formatDays, parseDays, withDays, withoutDays } from './days-off.ts'

type DoctorJson = ReturnType<typeof doctorJson>

const doctorTexts = (doctor: DoctorJson) => ({
  time_off: formatTimeOff(doctor.time_off),
  holidays: formatDays(doctor.holidays),
  exceptions: formatExceptions(doctor.exceptions),
})

/** The times of a doctor, in a line of a list. */
function describeTimes(doctor: DoctorJson): string {
  const { time_off, holidays, exceptions } = doctorTexts(doctor)
  const parts = [
    ['', doctor.hours],
    ['breaks ', doctor.breaks],
    ['off ', time_off],
    ['holidays ', holidays],
    ['exceptions ', exceptions],
  ]
  return parts.flatMap(([name, text]) => (text === '' ? [] : [`${name}${text}`])).join(', ')
}

const doctorJson = (doctor: Doctor) => ({
  id: doctor.id,
  full_name: doctor.fullName,
  specialty: doctor.specialty,
  department_id: doctor.departmentId,
  is_active: doctor.isActive,
  hours: formatWeeklyHours(doctor.hours),
  breaks: formatWeeklyHours(doctor.breaks),
  time_off: doctor.timeOff,
  holidays: doctor.holidays ?? [],
  exceptions: doctor.exceptions,
})

const doctors: SmallResource<DoctorJson> = {
  group: 'doctor',
  readAll: async ({ table, clinic }) => (await doctorStore({ table }).list(clinic.id)).map(doctorJson),
  show: async ({ table, clinic }, id) => {
    const doctor = await doctorStore({ table }).find(clinic.id, id)
    return doctor && doctorJson(doctor)
  },
  searched: 'a part of the name',
  textsOf: ({ full_name }) => [full_name],
  describe: (doctor) => ({ ...doctor, ...doctorTexts(doctor) }),
  cells: (doctor) => [doctor.full_name, doctor.is_active ? 'active' : 'inactive', describeTimes(doctor)],
}

/** The hours or the breaks of a week. */
const WEEK = { schema: weeklyHours, words: { '': {} } }

const WEEK_EXAMPLE = 'e.g. "mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00"'
const DAYS_EXAMPLE = 'e.g. "2026-12-24/2026-12-26; 2027-01-01"'

const DEPARTMENT = {
  flags: '--department <id>',
  description: 'department id',
  schema: z.string().toLowerCase(),
  words: NONE,
}
const NEW: Fields<Doctor> = {
  fullName: { flags: '--name <full name>', schema: doctorName, isRequired: true },
  specialty: { flags: '--specialty <text>', schema: specialty },
  departmentId: DEPARTMENT,
  hours: { flags: '--hours <week>', description: WEEK_EXAMPLE, ...WEEK },
  breaks: {
    flags: '--breaks <week>',
    description: 'breaks within the hours, in the same format',
    ...WEEK,
  },
  timeOff: { flags: '--time-off <days>', description: DAYS_EXAMPLE, schema: newTimeOff },
}
const CHANGES: Fields<Doctor> = {
  departmentId: { ...DEPARTMENT, description: 'department id; "" for none' },
  hours: { flags: '--hours <week>', description: WEEK_EXAMPLE, ...WEEK },
  breaks: { flags: '--breaks <week>', description: '"" removes all breaks', ...WEEK },
}

export function addDoctorCommands(group: Command): void {
  const create = group.command('create').description('create a doctor')
  addFields(create, NEW).action(async (given: object, command: Command) => {
    const context = await openClinic(command)
    const { table, clinic } = context
    const doctor = { ...NEW_DOCTOR, id: newUuid(), ...fieldsOf(NEW, given) } as Doctor
    await requireDepartment(context, doctor)
    const store = doctorStore({ table })
    // A change of the clinic's holidays at the same time is copied, or finds the doctor.
    await retryOnConflict(() => store.save(clinic.id, [{ before: null, after: doctor }]))
    const added = await store.find(clinic.id, doctor.id)
    print(command, doctorJson(added ?? doctor), [`Created doctor ${doctor.fullName}: ${doctor.id}`])
  })

  addSmallResource(group, doctors)

  const update = group
    .command('update')
    .description('change a doctor; lists the appointments that are then outside working hours')
    .argument('<doctor>', 'doctor id')
  addFields(update, CHANGES)
    .option(
      '--exception <day...>',
      'hours of a single day: "2026-12-24 09:00-12:00"; a date without hours is a day off',
    )
    .option('--remove-exception <date...>', 'dates that have the hours of the week again')
    .option('--add-time-off <days>', DAYS_EXAMPLE)
    .option('--remove-time-off <days>', 'days off exactly as they were added')
    .option('--active', 'bookings are possible')
    .option('--no-active', 'they are not; lists the appointments that are still scheduled')
    .action(updateDoctor)

  addLinkCommands(group, 'doctor')
}

type UpdateOptions = {
  exception?: string[]
  removeException?: string[]
  addTimeOff?: string
  removeTimeOff?: string
  active?: boolean
}

/** Updates a doctor, again from a fresh read if another command has changed it. Lists the appointments that it leaves outside
 * working hours, or without an active doctor. */
async function updateDoctor(id: string, given: UpdateOptions, command: Command): Promise<void> {
  requireChange(given)
  const context = await openClinic(command)
  const { clinic } = context
  const store = doctorStore(context)
  const { before, after, isChanged } = await retryOnConflict(async () => {
    const before = await requireRecord('doctor', id, (known) => store.find(clinic.id, known))
    const { version: _, ...doctor } = before
    const after = {
      ...doctor,
      ...fieldsOf(CHANGES, given),
      ...(given.active !== undefined && { isActive: given.active }),
      exceptions: exceptionsOf(doctor, given),
      timeOff: timeOffOf(doctor, given),
    }
    if (after.departmentId !== doctor.departmentId) await requireDepartment(context, after)
    const isChanged = !isDeepStrictEqual(after, doctor)
    if (isChanged) await store.save(clinic.id, [{ before, after }])
    return { before, after, isChanged }
  })
  const isDeactivated = before.isActive && !after.isActive
  const outside = isChanged
    ? await comingAppointments(
        context,
        { doctor: after.id },
        (appointment) =>
          isDeactivated ||
          (worksDuring(before, appointment, clinic.timezone) &&
            !worksDuring(after, appointment, clinic.timezone)),
      )
    : []
  const name = `doctor ${after.fullName}`
  print(command, { ...doctorJson(after), changed: isChanged, appointments_outside: outside }, [
    changeLine(isChanged, `Changed ${name}`, `${name} has these values already`),
    ...describeAppointments(context, outside, isDeactivated ? 'without an active doctor' : undefined),
  ])
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
  return withDays('time off', kept, parseDays('add-time-off', addTimeOff, newTimeOff))
}

/** @throws CommandFailure if the clinic does not have the department */
async function requireDepartment({ table, clinic }: ClinicContext, doctor: Doctor): Promise<void> {
  const known = new Set((await departmentStore({ table }).list(clinic.id)).map(({ id }) => id))
  for (const { issue } of departmentProblems(doctor, known)) throw new CommandFailure(`--department ${issue}`)
}
