/** How appointments are printed, a line each. */
import type { renderAppointment } from '../../shared/api/appointments.ts'
import type { RecordKind } from './record-kind.ts'

export type Appointment = ReturnType<typeof renderAppointment>

export const APPOINTMENT_LINES: Pick<RecordKind<Appointment>, 'cells' | 'hasClockTimes'> = {
  hasClockTimes: true,
  cells: ({ appointment_date, start_time, end_time, status, patient, doctor }) => [
    appointment_date,
    `${start_time}-${end_time}`,
    status,
    patient.full_name,
    doctor.full_name,
  ],
}
