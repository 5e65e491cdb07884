/** Changes of one doctor, and how doctors are printed. */
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import type { Doctor, TimeOff } from '../../shared/domain/doctor.ts'
import { formatWeeklyHours } from '../../shared/domain/working-hours.ts'
import { doctorStore, type StoredDoctor } from '../../shared/store/doctors.ts'
import { type Place, placeOf } from './catalogue-commands.ts'
import { CommandFailure, print } from './output.ts'
import { comingVisits, describeVisits, isInside } from './outside-visits.ts'

/** The doctor with this id. @throws CommandFailure if there is none */
export async function requireDoctor({ table, clinic }: Place, id: string): Promise<StoredDoctor> {
  const doctor = await doctorStore({ table }).find(clinic.id, id.toLowerCase())
  if (!doctor)
    throw new CommandFailure(`The clinic has no doctor ${id}. Run "doctor list" to see all doctors.`)
  return doctor
}

/** Updates a doctor, unless it has changed since it was read. Lists the visits that were within working hours before. */
export async function changeDoctor(
  id: string,
  given: { readonly clinic: string },
  command: Command,
  update: (doctor: Doctor, place: Place) => Doctor | Promise<Doctor>,
): Promise<void> {
  const place = await placeOf(given, command)
  const before = await requireDoctor(place, id)
  const { version: _, ...doctor } = before
  const after = await update(doctor, place)
  const isChanged = !isDeepStrictEqual(after, doctor)
  if (isChanged) await doctorStore(place).save(place.clinic.id, [{ before, after }])
  const outside = isChanged
    ? await comingVisits(
        place,
        after.id,
        (visit) => isInside(before, visit, place.clinic) && !isInside(after, visit, place.clinic),
      )
    : []
  print(command, { ...doctorJson(after), changed: isChanged, visits_outside: outside }, [
    isChanged
      ? `Changed doctor ${after.fullName}`
      : `Nothing changed: doctor ${after.fullName} is so already`,
    ...describeVisits(outside),
  ])
}

/** `2026-12-24/2026-12-26; 2027-01-01` */
export const formatDays = (days: readonly Pick<TimeOff, 'from' | 'to'>[]): string =>
  days.map(({ from, to }) => (from === to ? from : `${from}/${to}`)).join('; ')

/** `2026-12-24 09:00-12:00; 2026-12-27 off` */
export const formatExceptions = (exceptions: Doctor['exceptions']): string =>
  Object.entries(exceptions)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([date, windows]) => {
      const times = windows.map(({ start, end }) => `${start}-${end}`).join(',')
      return `${date} ${times === '' ? 'off' : times}`
    })
    .join('; ')

/** What a line of a list shows of a doctor's times. */
export function describeTimes(doctor: Doctor): string {
  const parts = [
    ['', formatWeeklyHours(doctor.hours)],
    ['breaks ', formatWeeklyHours(doctor.breaks)],
    ['off ', formatDays(doctor.timeOff)],
    ['holidays ', formatDays(doctor.holidays ?? [])],
    ['exceptions ', formatExceptions(doctor.exceptions)],
  ]
  return parts.flatMap(([name, text]) => (text === '' ? [] : [`${name}${text}`])).join(', ')
}

export const doctorJson = (doctor: Doctor) => ({
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
