import type { Command } from 'commander'
import { departmentProblems } from '../../../shared/domain/booking/catalogue.ts'
import type { Doctor } from '../../../shared/domain/booking/doctor.ts'
import { formatExceptions, formatTimeOff } from '../../../shared/domain/booking/doctor-days.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { singleLineText } from '../../../shared/domain/patients/text-fields.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { departmentStore } from '../../../shared/store/catalogue.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { retryOnConflict } from '../../../shared/store/table/retry-on-conflict.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { NEW_DOCTOR, timeOff, weeklyHours } from '../import/entities/doctors.ts'
import { addLinkCommands } from '../records/record-links.ts'
import { describeRecord } from '../records/record-text.ts'
import { openClinic } from '../tool/connection.ts'
import { CommandFailure, idOrNone, formatTable as lines, parseOption, print } from '../tool/output.ts'
import { changeDoctor, requireDoctor } from './doctor-changes.ts'
import { addScheduleCommand, addTimeOffCommand } from './doctor-schedules.ts'
import { describeTimes, doctorJson, formatDays } from './doctor-text.ts'

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
  const group = program.command('doctor').description('add, list, show, change and deactivate doctors')

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
      const { table, clinic } = await openClinic(given, command)
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
      const store = doctorStore({ table })
      // A change of the clinic's holidays at the same time is copied, or finds the doctor.
      await retryOnConflict(() => store.save(clinic.id, [{ before: null, after: doctor }]))
      const added = await store.find(clinic.id, doctor.id)
      print(command, doctorJson(added ?? doctor), [`Added doctor ${doctor.fullName}: ${doctor.id}`])
    })

  addDoctorList(group)
  addDoctorUpdate(group)
  addLinkCommands(group, 'doctor')

  addScheduleCommand(group)
  addTimeOffCommand(group)
  addDoctorActivation(group)
}

function addDoctorActivation(group: Command): void {
  const uses = [
    ['deactivate', 'stop bookings with a doctor; lists the appointments that are still scheduled'],
    ['activate', 'allow bookings with a doctor again'],
  ] as const
  for (const [name, description] of uses)
    group
      .command(name)
      .description(description)
      .argument('<doctor>', 'doctor id')
      .requiredOption('--clinic <id>')
      .action((id: string, given: { clinic: string }, command: Command) =>
        changeDoctor(id, given, command, (doctor) => ({ ...doctor, isActive: name === 'activate' })),
      )
}

function addDoctorList(group: Command): void {
  group
    .command('list')
    .description("list a clinic's doctors")
    .requiredOption('--clinic <id>')
    .action(async ({ clinic: id }: { clinic: string }, command: Command) => {
      const { table, clinic } = await openClinic({ clinic: id }, command)
      const doctors = await doctorStore({ table }).list(clinic.id)
      const rows = doctors.map((doctor) => [
        doctor.id,
        doctor.fullName,
        doctor.isActive ? 'active' : 'inactive',
        describeTimes(doctor),
      ])
      print(command, { data: doctors.map(doctorJson) }, lines(rows))
    })

  group
    .command('show')
    .description('show a doctor, with hours, time off, holidays and exceptions')
    .argument('<doctor>', 'doctor id')
    .requiredOption('--clinic <id>')
    .action(async (id: string, given: { clinic: string }, command: Command) => {
      const doctor = await requireDoctor(await openClinic(given, command), id)
      const json = doctorJson(doctor)
      const texts = {
        time_off: formatTimeOff(doctor.timeOff),
        holidays: formatDays(json.holidays),
        exceptions: formatExceptions(doctor.exceptions),
      }
      print(command, json, describeRecord({ ...json, ...texts }))
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
      changeDoctor(id, given, command, async (doctor, { table, clinic }) => ({
        ...doctor,
        departmentId: await requireDepartment(table, clinic.id, given.department),
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
