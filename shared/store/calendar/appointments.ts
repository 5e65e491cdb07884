import { type Appointment, type AppointmentStatus, occupiesSlot } from '../../domain/appointment.ts'
import { appointmentEventDraft } from '../../domain/event.ts'
import { doctorDayKey } from '../keys/calendar.ts'
import { shortId } from '../keys/key.ts'
import { type AttributeMap, code, instant, large, nullable, recordCodec, text } from '../table/attributes.ts'
import type { Changeset } from '../table/changeset.ts'
import { stampedCodec } from '../table/stamped-codec.ts'
import type { CalendarEntity } from './calendar-entity.ts'
import { calendarList } from './calendar-list.ts'
import type { ListPlatform } from './calendar-pages.ts'

const APPOINTMENT_FACETS: Record<AppointmentStatus, string> = {
  scheduled: 's',
  completed: 'c',
  cancelled: 'x',
  no_show: 'n',
}

/** Names are short because the cost of a list row is its size in bytes. */
export const APPOINTMENT_ATTRIBUTES = {
  patient: { id: text('p'), fullName: text('pn') },
  doctor: { id: text('d'), fullName: text('dn') },
  date: text('on'),
  startTime: text('b'),
  endTime: text('e'),
  status: code('s', APPOINTMENT_FACETS),
  notes: large(nullable(text('n')), null),
  createdAt: instant('c'),
} satisfies AttributeMap<Omit<Appointment, 'id'>>

export const APPOINTMENTS: CalendarEntity<Appointment, AppointmentStatus> = {
  ...stampedCodec(recordCodec<Appointment>(APPOINTMENT_ATTRIBUTES)),
  createdAt: ({ createdAt }) => createdAt,
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
  onChange: updateDoctorDay,
  eventDraft: appointmentEventDraft,
}

/** Keeps the doctor's day up to date: one attribute for each appointment that occupies time, `09:00-09:30`. */
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
