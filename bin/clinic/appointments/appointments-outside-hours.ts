/** Appointments that a change leaves outside working hours, or without what they need. They stay: the operator moves or cancels them. */
import { renderAppointment } from '../../../shared/api/appointments.ts'
import type { Appointment } from '../../../shared/domain/booking/appointment.ts'
import { isUpcoming } from '../../../shared/domain/booking/appointment-actions.ts'
import { worksDuring } from '../../../shared/domain/booking/slots.ts'
import { wallClock } from '../../../shared/domain/clock.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { eachRecord } from '../records/change-record.ts'
import { recordTable, timesAreIn } from '../records/record-text.ts'
import type { ResourceCommands } from '../records/resource-commands.ts'
import type { ClinicContext } from '../tool/connection.ts'
import { counted } from '../tool/output.ts'

export type ListedAppointment = ReturnType<typeof renderAppointment>

/** How appointments are printed, a line each. */
export const APPOINTMENT_LINES: Pick<ResourceCommands<ListedAppointment>, 'cells' | 'hasClockTimes'> = {
  hasClockTimes: true,
  cells: ({ appointment_date, start_time, end_time, status, patient, doctor }) => [
    appointment_date,
    `${start_time}-${end_time}`,
    status,
    patient.full_name,
    doctor.full_name,
  ],
}

/** A scheduled appointment to come, as `appointment list` prints it. */
type OutsideAppointment = ListedAppointment & {
  readonly doctor_id: string
  readonly patient_id: string
}

/** The scheduled appointments to come at which their doctor does not work. */
export async function appointmentsOutsideHours(context: ClinicContext): Promise<OutsideAppointment[]> {
  const doctors = new Map((await doctorStore(context).list(context.clinic.id)).map((one) => [one.id, one]))
  return comingAppointments(context, {}, (appointment) => {
    const doctor = doctors.get(appointment.doctor.id)
    return doctor !== undefined && !worksDuring(doctor, appointment, context.clinic.timezone)
  })
}

/** The scheduled appointments that are still to come, of one doctor, one patient or all, and that `isConcerned` selects, earliest first. */
export async function comingAppointments(
  { table, clinic }: ClinicContext,
  of: { readonly doctor?: string; readonly patient?: string },
  isConcerned: (appointment: Appointment) => boolean,
): Promise<OutsideAppointment[]> {
  const now = wallClock(Date.now(), clinic.timezone)
  const filter = { ...of, facets: ['scheduled'], from: now.date } as const
  const found: OutsideAppointment[] = []
  for await (const appointment of eachRecord(appointmentStore({ table }), clinic.id, filter))
    if (isUpcoming(appointment, now) && isConcerned(appointment))
      found.push({
        ...renderAppointment(appointment, clinic),
        doctor_id: appointment.doctor.id,
        patient_id: appointment.patient.id,
      })
  return found.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1))
}

const timeOf = ({ appointment_date, start_time, id }: OutsideAppointment): string =>
  `${appointment_date} ${start_time} ${id}`

/**
 * The appointments as lines of text, as `appointment list` prints them.
 * @param where What they are now.
 * @param remedies Commands that are possible.
 */
export const describeAppointments = (
  { clinic }: ClinicContext,
  appointments: readonly OutsideAppointment[],
  where = 'outside working hours',
  remedies = '"appointment update" or "appointment cancel"',
): string[] =>
  appointments.length === 0
    ? []
    : [
        `${counted(appointments.length, 'scheduled appointment')} ${appointments.length === 1 ? 'is' : 'are'} now ${where}. Nothing cancels them: use ${remedies}. ${timesAreIn(clinic)}`,
        ...recordTable(APPOINTMENT_LINES, appointments),
      ]

/** The appointments, without what they are. */
export const outsideHoursLines = (
  { clinic }: ClinicContext,
  appointments: readonly OutsideAppointment[],
): string[] =>
  appointments.length === 0
    ? ['No appointments outside working hours']
    : [
        ...recordTable(APPOINTMENT_LINES, appointments),
        `${timesAreIn(clinic)} ${counted(appointments.length, 'scheduled appointment')}.`,
      ]
