import type { Command } from 'commander'
import * as z from 'zod'
import { CalendarDate } from '../../shared/api/schemas.ts'
import { departmentProblems } from '../../shared/domain/catalogue.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { Doctor } from '../../shared/domain/doctor.ts'
import { singleLineText } from '../../shared/domain/text-fields.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { formatWeeklyHours, type Window } from '../../shared/domain/working-hours.ts'
import { departmentStore } from '../../shared/store/catalogue.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { idOrNone } from './catalogue-commands.ts'
import { connect, requireClinic } from './connection.ts'
import { NEW_DOCTOR, timeOff, weeklyHours } from './import/doctors.ts'
import { CommandFailure, formatTable as lines, parseOption, print } from './output.ts'

type NewDoctorOptions = {
  clinic: string
  name: string
  specialty?: string
  department?: string
  hours?: string
  breaks?: string
  timeOff?: string
}

export function addDoctorCommands(program: Command): void {
  const group = program.command('doctor').description('add, list, change and deactivate doctors')

  group
    .command('add')
    .description('add a doctor')
    .requiredOption('--clinic <id>')
    .requiredOption('--name <full name>')
    .option('--specialty <text>')
    .option('--department <id>', 'department id')
    .option('--hours <week>', 'e.g. "mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00"')
    .option('--breaks <week>', 'breaks within the hours, in the same format')
    .option('--time-off <days>', 'e.g. "2026-12-24/2026-12-26; 2027-01-01"')
    .action(async (given: NewDoctorOptions, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, given.clinic)
      const doctor: Doctor = {
        ...NEW_DOCTOR,
        id: newUuid(),
        fullName: parseOption('name', singleLineText(200), given.name),
        ...(given.specialty !== undefined && {
          specialty: parseOption('specialty', singleLineText(100), given.specialty),
        }),
        ...(given.department !== undefined && {
          departmentId: await requireDepartment(table, clinic.id, given.department),
        }),
        ...(given.hours !== undefined && { hours: parseOption('hours', weeklyHours, given.hours) }),
        ...(given.breaks !== undefined && { breaks: parseOption('breaks', weeklyHours, given.breaks) }),
        ...(given.timeOff !== undefined && { timeOff: parseOption('time-off', timeOff, given.timeOff) }),
      }
      await doctorStore({ table }).save(clinic.id, [{ before: null, after: doctor }])
      print(command, doctorJson(doctor), [`Added doctor ${doctor.fullName}: ${doctor.id}`])
    })

  addDoctorList(group)
  addDoctorUpdate(group)

  group
    .command('schedule')
    .description("change a doctor's weekly hours, or the hours of single days; existing appointments stay")
    .argument('<doctor>', 'doctor id')
    .requiredOption('--clinic <id>')
    .option('--hours <week>')
    .option('--breaks <week>', '"" removes all breaks')
    .option(
      '--exception <day...>',
      'hours of a single day: "2026-12-24 09:00-12:00"; a date without hours is a day off',
    )
    .action((id: string, given: ScheduleOptions, command: Command) =>
      changeDoctor(id, given.clinic, command, (doctor) => ({ ...doctor, ...scheduleOf(doctor, given) })),
    )

  group
    .command('time-off')
    .description('add or remove days off; existing appointments stay')
    .argument('<doctor>', 'doctor id')
    .requiredOption('--clinic <id>')
    .option('--add <days>', 'e.g. "2026-12-24/2026-12-26; 2027-01-01"')
    .option('--remove <days>', 'days off exactly as they were added')
    .action((id: string, { clinic, add = '', remove = '' }: TimeOffOptions, command: Command) =>
      changeDoctor(id, clinic, command, (doctor) => {
        const removed = new Set(spansOf('remove', remove).map(({ from, to }) => `${from}/${to}`))
        const kept = doctor.timeOff.filter(({ from, to }) => !removed.has(`${from}/${to}`))
        return { ...doctor, timeOff: [...kept, ...spansOf('add', add)] }
      }),
    )

  group
    .command('deactivate')
    .description('stop bookings with a doctor; existing appointments stay')
    .argument('<doctor>', 'doctor id')
    .requiredOption('--clinic <id>')
    .action((id: string, { clinic }: { clinic: string }, command: Command) =>
      changeDoctor(id, clinic, command, (doctor) => ({ ...doctor, isActive: false })),
    )
}

function addDoctorList(group: Command): void {
  group
    .command('list')
    .description("list a clinic's doctors")
    .requiredOption('--clinic <id>')
    .action(async ({ clinic: id }: { clinic: string }, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, id)
      const doctors = await doctorStore({ table }).list(clinic.id)
      const rows = doctors.map((doctor) => [
        doctor.id,
        doctor.fullName,
        doctor.isActive ? 'active' : 'inactive',
        [
          formatWeeklyHours(doctor.hours),
          ...(Object.keys(doctor.breaks).length > 0 ? [`breaks ${formatWeeklyHours(doctor.breaks)}`] : []),
          ...(doctor.timeOff.length > 0 ? [`off ${formatTimeOff(doctor.timeOff)}`] : []),
        ]
          .filter((text) => text !== '')
          .join(', '),
      ])
      print(command, { data: doctors.map(doctorJson) }, lines(rows))
    })
}

function addDoctorUpdate(group: Command): void {
  group
    .command('update')
    .description("change a doctor's department")
    .argument('<doctor>', 'doctor id')
    .requiredOption('--clinic <id>')
    .requiredOption('--department <id>', 'department id; "" for none')
    .action((id: string, given: { clinic: string; department: string }, command: Command) =>
      changeDoctor(id, given.clinic, command, async (doctor, table, clinic) => ({
        ...doctor,
        departmentId: await requireDepartment(table, clinic, given.department),
      })),
    )
}

/** The id of a department of the clinic; null for "". @throws CommandFailure if there is none */
async function requireDepartment(table: Table, clinic: ClinicId, option: string): Promise<string | null> {
  const departmentId = idOrNone(option)
  const known = new Set((await departmentStore({ table }).list(clinic)).map(({ id }) => id))
  for (const { issue } of departmentProblems({ departmentId }, known))
    throw new CommandFailure(`--department ${issue}`)
  return departmentId
}

type ScheduleOptions = { clinic: string; hours?: string; breaks?: string; exception?: string[] }
type TimeOffOptions = { clinic: string; add?: string; remove?: string }

const spansOf = (name: string, text: string) => (text === '' ? [] : parseOption(name, timeOff, text))

function scheduleOf(doctor: Doctor, { hours, breaks, exception = [] }: ScheduleOptions): Partial<Doctor> {
  const week = (name: string, text: string) => (text === '' ? {} : parseOption(name, weeklyHours, text))
  const days = exception.map((text) => parseOption('exception', Exception, text))
  return {
    ...(hours !== undefined && { hours: week('hours', hours) }),
    ...(breaks !== undefined && { breaks: week('breaks', breaks) }),
    exceptions: { ...doctor.exceptions, ...Object.fromEntries(days) },
  }
}

/** `2026-12-24 09:00-12:00`: a date and its hours, none for a day off. */
const Exception = z.string().transform((text, context): [date: string, windows: readonly Window[]] => {
  const [date = '', times] = text.trim().split(/\s+/, 2)
  const windows = times === undefined ? { mon: [] } : weeklyHours.safeParse(`mon ${times}`).data
  if (CalendarDate.safeParse(date).success && windows?.mon) return [date, windows.mon]
  context.addIssue({
    code: 'custom',
    message: 'must be a date and its hours, such as "2026-12-24 09:00-12:00"',
  })
  return z.NEVER
})

/** Updates a doctor, unless it has changed since it was read. */
async function changeDoctor(
  id: string,
  clinicId: string,
  command: Command,
  update: (doctor: Doctor, table: Table, clinic: ClinicId) => Doctor | Promise<Doctor>,
): Promise<void> {
  const table = await connect(command)
  const clinic = await requireClinic(table, clinicId)
  const store = doctorStore({ table })
  const before = await store.find(clinic.id, id.toLowerCase())
  if (!before)
    throw new CommandFailure(`The clinic has no doctor ${id}. Run "doctor list" to see all doctors.`)
  const { version: _, ...doctor } = before
  const after = await update(doctor, table, clinic.id)
  await store.save(clinic.id, [{ before, after }])
  print(command, doctorJson(after), [`Changed doctor ${after.fullName}`])
}

/** `2026-12-24/2026-12-26; 2027-01-01` */
const formatTimeOff = (days: Doctor['timeOff']): string =>
  days.map(({ from, to }) => (from === to ? from : `${from}/${to}`)).join('; ')

const doctorJson = (doctor: Doctor) => ({
  id: doctor.id,
  full_name: doctor.fullName,
  specialty: doctor.specialty,
  department_id: doctor.departmentId,
  is_active: doctor.isActive,
  hours: formatWeeklyHours(doctor.hours),
  breaks: formatWeeklyHours(doctor.breaks),
  time_off: doctor.timeOff,
  exceptions: doctor.exceptions,
})
