import type { Command } from 'commander'
import type { Doctor } from '../../../shared/domain/booking/doctor.ts'
import { singleLineText } from '../../../shared/domain/patients/text-fields.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { retryOnConflict } from '../../../shared/store/table/retry-on-conflict.ts'
import { NEW_DOCTOR, timeOff, weeklyHours } from '../import/entities/doctors.ts'
import { addLinkCommands } from '../records/record-links.ts'
import { addSmallResource, type SmallResource } from '../records/resource-group.ts'
import { openClinic } from '../tool/connection.ts'
import { parseOption, print } from '../tool/output.ts'
import { describeTimes, doctorJson, doctorTexts } from './doctor-text.ts'
import { addDoctorUpdate, requireDepartment } from './doctor-updates.ts'

type NewDoctorOptions = {
  name: string
  specialty?: string
  department?: string
  hours?: string
  breaks?: string
  timeOff?: string
}

const doctors: SmallResource<ReturnType<typeof doctorJson>> = {
  group: 'doctor',
  noun: 'doctor',
  plural: 'doctors',
  imported: 'doctor',
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

export function addDoctorCommands(group: Command): void {
  group
    .command('create')
    .description('create a doctor')
    .requiredOption('--name <full name>')
    .option('--specialty <text>')
    .option('--department <id>', 'department id')
    .option('--hours <week>', 'e.g. "mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00"')
    .option('--breaks <week>', 'breaks within the hours, in the same format')
    .option('--time-off <days>', 'e.g. "2026-12-24/2026-12-26; 2027-01-01"')
    .action(async (given: NewDoctorOptions, command: Command) => {
      const context = await openClinic(command)
      const { table, clinic } = context
      const doctor: Doctor = {
        ...NEW_DOCTOR,
        id: newUuid(),
        fullName: parseOption('name', singleLineText(200), given.name),
        ...(given.specialty !== undefined && {
          specialty: parseOption('specialty', singleLineText(100), given.specialty),
        }),
        ...(given.department !== undefined && {
          departmentId: await requireDepartment(context, given.department),
        }),
        ...(given.hours !== undefined && { hours: parseOption('hours', weeklyHours, given.hours) }),
        ...(given.breaks !== undefined && { breaks: parseOption('breaks', weeklyHours, given.breaks) }),
        ...(given.timeOff !== undefined && { timeOff: parseOption('time-off', timeOff, given.timeOff) }),
      }
      const store = doctorStore({ table })
      // A change of the clinic's holidays at the same time is copied, or finds the doctor.
      await retryOnConflict(() => store.save(clinic.id, [{ before: null, after: doctor }]))
      const added = await store.find(clinic.id, doctor.id)
      print(command, doctorJson(added ?? doctor), [`Created doctor ${doctor.fullName}: ${doctor.id}`])
    })

  addSmallResource(group, doctors)
  addDoctorUpdate(group)
  addLinkCommands(group, 'doctor')
}
