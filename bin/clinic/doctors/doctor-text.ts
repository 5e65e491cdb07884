/** How doctors are printed. */
import type { Doctor, TimeOff } from '../../../shared/domain/booking/doctor.ts'
import { formatExceptions, formatSpan, formatTimeOff } from '../../../shared/domain/booking/doctor-days.ts'
import { formatWeeklyHours } from '../../../shared/domain/booking/working-hours.ts'

/** `2026-12-24/2026-12-26; 2027-01-01` */
export const formatDays = (days: readonly Pick<TimeOff, 'from' | 'to'>[]): string =>
  days.map(formatSpan).join('; ')

type DoctorJson = ReturnType<typeof doctorJson>

/** The days of a doctor as text. */
export const doctorTexts = (doctor: DoctorJson) => ({
  time_off: formatTimeOff(doctor.time_off),
  holidays: formatDays(doctor.holidays),
  exceptions: formatExceptions(doctor.exceptions),
})

/** The times of a doctor, in a line of a list. */
export function describeTimes(doctor: DoctorJson): string {
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
