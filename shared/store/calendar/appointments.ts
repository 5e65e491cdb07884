import { type Appointment, type AppointmentStatus, occupiesSlot } from '../../domain/booking/appointment.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { appointmentEventDraft } from '../../domain/webhooks/event.ts'
import { pageByExternalId } from '../external-ids/links.ts'
import { doctorDayKey, roomDayKey } from '../keys/calendar.ts'
import { type Key, keyText, shortId } from '../keys/key.ts'
import {
  type AttributeMap,
  code,
  instant,
  large,
  nullable,
  object,
  optional,
  optionalList,
  recordCodec,
  text,
} from '../table/attributes.ts'
import type { Changeset } from '../table/changeset.ts'
import { withUpdatedAtCodec } from '../table/updated-at-codec.ts'
import type { CalendarEntity } from './calendar-entity.ts'
import { calendarList } from './calendar-list.ts'
import type { ListPlatform } from './calendar-pages.ts'
import { CATALOGUE_REFERENCE } from './references.ts'

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
  treatments: large(optionalList('tr', CATALOGUE_REFERENCE), []),
  room: optional(object('rm', CATALOGUE_REFERENCE)),
  confirmedAt: optional(instant('cf')),
  checkedInAt: optional(instant('ci')),
  cancelledAt: optional(instant('xa')),
  cancellationReason: large(optional(text('xr')), null),
  externalId: optional(text('xi')),
  createdAt: instant('c'),
} satisfies AttributeMap<Omit<Appointment, 'id'>>

export const APPOINTMENTS: CalendarEntity<Appointment, AppointmentStatus> = {
  ...withUpdatedAtCodec(recordCodec<Appointment>(APPOINTMENT_ATTRIBUTES)),
  createdAt: ({ createdAt }) => createdAt,
  entityCode: 'A',
  facets: APPOINTMENT_FACETS,
  position: ({ id, status, date, startTime, endTime, patient, doctor, room }) => ({
    id,
    facet: APPOINTMENT_FACETS[status],
    date,
    moment: startTime,
    end: endTime,
    patient: patient.id,
    doctor: doctor.id,
    room: room?.id,
  }),
  onChange: updateBusyDays,
  eventDraft: appointmentEventDraft,
}

/**
 * Keeps the days of the doctor and the room up to date: one attribute for each appointment that occupies time,
 * `09:00-09:30`. Days that stay the same are not written, so that no other booking of them has to be repeated.
 */
function updateBusyDays(changeset: Changeset, before: Appointment | null, after: Appointment | null): void {
  const attribute = shortId((after ?? before)?.id ?? '')
  const old = busyDays(changeset.clinic, before)
  const current = busyDays(changeset.clinic, after)
  const isSameTime = before && after && busyTime(before) === busyTime(after)
  for (const [name, key] of old) if (!current.has(name)) changeset.set(key, attribute, undefined)
  for (const [name, key] of current)
    if (!old.has(name) || !isSameTime) changeset.set(key, attribute, busyTime(after as Appointment))
}

/** The days on which an appointment occupies time. */
function busyDays(clinic: ClinicId, appointment: Appointment | null): Map<string, Key> {
  const days = new Map<string, Key>()
  for (const key of appointment ? busyDayKeys(clinic, appointment) : []) days.set(keyText(key), key)
  return days
}

/** The days of the doctor and the room on which an appointment occupies time, if it does. */
export const busyDayKeys = (clinic: ClinicId, { doctor, room, date, status }: Appointment): Key[] =>
  occupiesSlot(status)
    ? [doctorDayKey(clinic, doctor.id, date), ...(room ? [roomDayKey(clinic, room.id, date)] : [])]
    : []

/** The time that an appointment occupies, as days contain it: `09:00-09:30`. */
export const busyTime = ({ startTime, endTime }: Appointment): string => `${startTime}-${endTime}`

/** Appointments by date and start time, tallied by status for the clinic and each doctor. */
export const appointmentStore = (platform: ListPlatform) => calendarList(platform, APPOINTMENTS)

/** The same, with the filter by external id. */
export function appointmentListStore(platform: ListPlatform) {
  const appointments = appointmentStore(platform)
  const byExternalId = pageByExternalId(
    platform.table,
    'appointment',
    async (clinic, id) => (await appointments.find(clinic, id))?.record ?? null,
  )
  type Page = typeof appointments.page
  const page = (
    clinic: ClinicId,
    { externalId, ...filter }: Parameters<Page>[1] & { readonly externalId?: string | undefined },
    request: Parameters<Page>[2],
  ): ReturnType<Page> =>
    externalId === undefined ? appointments.page(clinic, filter, request) : byExternalId(clinic, externalId)
  return { ...appointments, page }
}
