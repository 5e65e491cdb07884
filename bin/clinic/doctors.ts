import type { Command } from 'commander'
import type { Doctor } from '../../shared/domain/doctor.ts'
import { line } from '../../shared/domain/text-fields.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { formatWeeklyHours } from '../../shared/domain/working-hours.ts'
import { NEW_DOCTOR, timeOff, weeklyHours } from '../../shared/import/doctors.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { connect, requireClinic } from './connection.ts'
import { CommandFailure, table as lines, option, print } from './output.ts'

type NewDoctorOptions = {
  clinic: string
  name: string
  specialty?: string
  hours?: string
  breaks?: string
  timeOff?: string
}

export function addDoctorCommands(program: Command): void {
  const group = program.command('doctor').description('add, list and deactivate doctors')

  group
    .command('add')
    .description('add a doctor')
    .requiredOption('--clinic <id>')
    .requiredOption('--name <full name>')
    .option('--specialty <text>')
    .option('--hours <week>', 'e.g. "mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00"')
    .option('--breaks <week>', 'inside the hours but not bookable, written the same way')
    .option('--time-off <days>', 'e.g. "2026-12-24/2026-12-26; 2027-01-01"')
    .action(async (given: NewDoctorOptions, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, given.clinic)
      const doctor: Doctor = {
        ...NEW_DOCTOR,
        id: newUuid(),
        fullName: option('name', line(200), given.name),
        ...(given.specialty !== undefined && { specialty: option('specialty', line(100), given.specialty) }),
        ...(given.hours !== undefined && { hours: option('hours', weeklyHours, given.hours) }),
        ...(given.breaks !== undefined && { breaks: option('breaks', weeklyHours, given.breaks) }),
        ...(given.timeOff !== undefined && { timeOff: option('time-off', timeOff, given.timeOff) }),
      }
      await doctorStore({ table }).save(clinic.id, [{ before: null, after: doctor }])
      print(command, shown(doctor), [`Doctor ${doctor.fullName} is ${doctor.id}`])
    })

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
        formatWeeklyHours(doctor.hours),
      ])
      print(command, { data: doctors.map(shown) }, lines(rows))
    })

  group
    .command('deactivate')
    .description('take a doctor out of booking; what is booked stays')
    .argument('<doctor>', 'its id')
    .requiredOption('--clinic <id>')
    .action(async (id: string, { clinic: clinicId }: { clinic: string }, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, clinicId)
      const doctor = await doctorStore({ table }).find(clinic.id, id.toLowerCase())
      if (!doctor) throw new CommandFailure(`The clinic has no doctor ${id}; "doctor list" shows them.`)
      const { version: _, ...facts } = doctor
      const inactive = { ...facts, isActive: false }
      await doctorStore({ table }).save(clinic.id, [{ before: doctor, after: inactive }])
      print(command, shown(inactive), [`Doctor ${doctor.fullName} is inactive`])
    })
}

const shown = (doctor: Doctor) => ({
  id: doctor.id,
  full_name: doctor.fullName,
  specialty: doctor.specialty,
  is_active: doctor.isActive,
  hours: formatWeeklyHours(doctor.hours),
  breaks: formatWeeklyHours(doctor.breaks),
  time_off: doctor.timeOff,
})
