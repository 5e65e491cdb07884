import { type Appointment, type AppointmentStatus, occupiesSlot } from '../../domain/appointment.ts'
import { appointmentEventDraft } from '../../domain/event.ts'
import { doctorDayKey } from '../keys/calendar.ts'
import { shortId } from '../keys/key.ts'
import type { Changeset } from '../table/changeset.ts'
import { type CalendarEntity, calendarList, type ListPlatform } from './calendar-list.ts'
import { facetValue } from './calendar-row.ts'

const APPOINTMENT_FACETS: Record<AppointmentStatus, string> = {
  scheduled: 's',
  completed: 'c',
  cancelled: 'x',
  no_show: 'n',
}

type AppointmentAttributes = {
  p: string
  pn: string
  d: string
  dn: string
  on: string
  b: string
  e: string
  s: string
  n?: string | null
  c: number
}

export const APPOINTMENTS: CalendarEntity<Appointment, AppointmentStatus> = {
  letter: 'A',
  facets: APPOINTMENT_FACETS,
  position: ({ id, status, date, startTime, patient, doctor }) => ({
    id,
    facet: APPOINTMENT_FACETS[status],
    date,
    moment: startTime,
    patient: patient.id,
    doctor: doctor.id,
  }),
  encode: (appointment): AppointmentAttributes => ({
    p: appointment.patient.id,
    pn: appointment.patient.fullName,
    d: appointment.doctor.id,
    dn: appointment.doctor.fullName,
    on: appointment.date,
    b: appointment.startTime,
    e: appointment.endTime,
    s: APPOINTMENT_FACETS[appointment.status],
    n: appointment.notes,
    c: Date.parse(appointment.createdAt),
  }),
  decode: (item, id) => {
    const { p, pn, d, dn, on, b, e, s, n, c } = item as unknown as AppointmentAttributes
    return {
      id,
      patient: { id: p, fullName: pn },
      doctor: { id: d, fullName: dn },
      date: on,
      startTime: b,
      endTime: e,
      status: facetValue(APPOINTMENT_FACETS, s),
      notes: n ?? null,
      createdAt: new Date(c).toISOString(),
    }
  },
  large: ['n'],
  onChange: updateDoctorDay,
  eventDraft: appointmentEventDraft,
}

/** Keeps the doctor's day: an attribute for each appointment that takes time, `0900-0930`. */
function updateDoctorDay(changeset: Changeset, before: Appointment | null, after: Appointment): void {
  const busy = (appointment: Appointment) =>
    occupiesSlot(appointment.status) && `${appointment.startTime}-${appointment.endTime}`
  const dayOf = ({ doctor, date }: Appointment) => doctorDayKey(changeset.clinic, doctor.id, date)
  const attribute = shortId(after.id)
  if (before && busy(before)) changeset.set(dayOf(before), attribute, undefined)
  if (busy(after)) changeset.set(dayOf(after), attribute, busy(after))
}

/** Appointments by date and start time, tallied by status for the clinic and each doctor. */
export const appointmentStore = (platform: ListPlatform) => calendarList(platform, APPOINTMENTS)
