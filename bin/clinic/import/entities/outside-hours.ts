/** Appointments to come at which their doctor does not work. They are imported: only the clinic knows whether they take place. */
import { absenceOn } from '../../../../shared/domain/booking/absence.ts'
import type { Appointment } from '../../../../shared/domain/booking/appointment.ts'
import { isUpcoming } from '../../../../shared/domain/booking/appointment-actions.ts'
import type { Doctor } from '../../../../shared/domain/booking/doctor.ts'
import { isWorking } from '../../../../shared/domain/booking/slots.ts'
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { wallClock } from '../../../../shared/domain/clock.ts'
import { parseTime } from '../../../../shared/domain/interval.ts'
import type { RowSource } from '../external-ids/overwrite-check.ts'
import type { Warning } from '../files/warnings.ts'

/** The warning about a scheduled appointment to come at which its doctor does not work; null for others. */
export function outsideWarning(
  doctor: Doctor,
  appointment: Pick<Appointment, 'date' | 'startTime' | 'endTime' | 'status'>,
  { timezone }: Pick<ClinicInfo, 'timezone'>,
  now: number,
  { columnOf }: Pick<RowSource, 'columnOf'>,
): Warning | null {
  if (!isUpcoming(appointment, wallClock(now, timezone))) return null
  const { date, startTime, endTime } = appointment
  const interval = { from: parseTime(startTime), to: parseTime(endTime) }
  if (isWorking({ doctor, date, timezone }, interval)) return null
  return { kind: 'outside_hours', text: textOf(doctor, date, columnOf('doctor_external_id')) }
}

function textOf(doctor: Doctor, date: string, doctorColumn: string): string {
  const absence = absenceOn(doctor, date)?.kind
  if (absence === 'inactive') return `${doctorColumn} is an inactive doctor`
  if (absence === 'holiday') return 'appointment_date is a holiday of the clinic'
  if (absence === 'time_off') return "appointment_date is in the doctor's time off"
  return hasHours(doctor)
    ? "start_time or end_time is outside the doctor's working hours"
    : `${doctorColumn} is a doctor without working hours`
}

const hasHours = ({ hours, exceptions }: Doctor): boolean =>
  Object.keys(hours).length + Object.keys(exceptions).length > 0
