/** Visits that a change leaves outside working hours, or without what they need. They stay: the operator moves or cancels them. */
import { renderAppointment } from '../../../shared/api/appointments.ts'
import type { Appointment } from '../../../shared/domain/booking/appointment.ts'
import { isUpcoming } from '../../../shared/domain/booking/appointment-actions.ts'
import type { Doctor } from '../../../shared/domain/booking/doctor.ts'
import { isWorking } from '../../../shared/domain/booking/slots.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { wallClock } from '../../../shared/domain/clock.ts'
import { parseTime } from '../../../shared/domain/interval.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { eachRecord } from '../records/change-record.ts'
import { recordTable, timesAreIn } from '../records/record-text.ts'
import type { ResourceCommands } from '../records/resource-commands.ts'
import type { ClinicContext } from '../tool/connection.ts'
import { counted } from '../tool/output.ts'

/** An appointment as the API renders it. */
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

/** A scheduled visit to come, as `appointment list` prints it. */
type Visit = ListedAppointment & {
  readonly doctor_id: string
  readonly patient_id: string
}

/** Whether a doctor works during a visit. */
export const isInside = (
  doctor: Doctor,
  { date, startTime, endTime }: Pick<Appointment, 'date' | 'startTime' | 'endTime'>,
  { timezone }: Pick<Clinic, 'timezone'>,
): boolean => isWorking({ doctor, date, timezone }, { from: parseTime(startTime), to: parseTime(endTime) })

/** The scheduled visits to come at which their doctor does not work. */
export async function visitsOutside(context: ClinicContext): Promise<Visit[]> {
  const doctors = new Map((await doctorStore(context).list(context.clinic.id)).map((one) => [one.id, one]))
  return comingVisits(context, {}, (visit) => {
    const doctor = doctors.get(visit.doctor.id)
    return doctor !== undefined && !isInside(doctor, visit, context.clinic)
  })
}

/** The scheduled visits that are still to come, of one doctor, one patient or all, and that `isConcerned` selects, earliest first. */
export async function comingVisits(
  { table, clinic }: ClinicContext,
  of: { readonly doctor?: string; readonly patient?: string },
  isConcerned: (visit: Appointment) => boolean,
): Promise<Visit[]> {
  const now = wallClock(Date.now(), clinic.timezone)
  const filter = { ...of, facet: 'scheduled', from: now.date } as const
  const found: Visit[] = []
  for await (const visit of eachRecord(appointmentStore({ table }), clinic.id, filter))
    if (isUpcoming(visit, now) && isConcerned(visit))
      found.push({
        ...renderAppointment(visit, clinic),
        doctor_id: visit.doctor.id,
        patient_id: visit.patient.id,
      })
  return found.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1))
}

const timeOf = ({ appointment_date, start_time, id }: Visit): string =>
  `${appointment_date} ${start_time} ${id}`

/**
 * The visits as lines of text, like those of `appointment list`.
 * @param where What they are now.
 * @param remedies Commands that are possible.
 */
export const describeVisits = (
  { clinic }: ClinicContext,
  visits: readonly Visit[],
  where = 'outside working hours',
  remedies = '"appointment move" or "appointment cancel"',
): string[] =>
  visits.length === 0
    ? []
    : [
        `${counted(visits.length, 'scheduled visit')} ${visits.length === 1 ? 'is' : 'are'} now ${where}. Nothing cancels them: use ${remedies}. ${timesAreIn(clinic)}`,
        ...recordTable(APPOINTMENT_LINES, visits),
      ]

/** The visits, without what they are. */
export const visitLines = ({ clinic }: ClinicContext, visits: readonly Visit[]): string[] => [
  ...recordTable(APPOINTMENT_LINES, visits),
  `${timesAreIn(clinic)} ${counted(visits.length, 'scheduled visit')}.`,
]
