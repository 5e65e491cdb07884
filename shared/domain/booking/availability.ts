/** Which slots can be booked on several days, with several doctors. */
import { addDays, clockGaps } from '../clock.ts'
import { formatTime, type Interval } from '../interval.ts'
import { fold } from '../patients/search-text.ts'
import type { Doctor } from './doctor.ts'
import type { Moment } from './placement.ts'
import { type DatedSlot, freeSlots } from './slots.ts'

/** Days of one request, the first and the last included. */
export const MAX_AVAILABILITY_DAYS = 31

/** Days of doctors that are read at once: 31 days of 20 doctors. */
export const MAX_DOCTOR_DAYS = 620

/** Slots of one response. A doctor has at most 287 on a day. */
export const MAX_SLOTS = 1000

/** A doctor, and the time that is taken on a date. */
export type DoctorCalendar = {
  readonly doctor: Doctor
  readonly busyOn: (date: string) => readonly Interval[]
}

export type AvailabilityRequest = Moment & {
  /** Clinic-local `Y-m-d`, both inclusive. */
  readonly from: string
  readonly to: string
  readonly minutes: number
  /** The first slots to list. */
  readonly limit: number
  /** The {@link slotCursor} after which slots are listed, or a date, for all slots from then on. */
  readonly after?: string
  /** Time that is taken in the room, if one is asked for. */
  readonly roomBusyOn: (date: string) => readonly Interval[]
}

export type DoctorSlot = DatedSlot & { readonly doctor: Doctor }

/** The bookable slots of doctors, by date, start, name and id of the doctor. */
export function availableSlots(
  calendars: readonly DoctorCalendar[],
  { from, to, minutes, limit, after = '', roomBusyOn, timezone, clock }: AvailabilityRequest,
): DoctorSlot[] {
  const byName = calendars.toSorted((a, b) => (nameKey(a.doctor) < nameKey(b.doctor) ? -1 : 1))
  const slots: DoctorSlot[] = []
  for (let date = from; date <= to && slots.length < limit; date = addDays(date, 1)) {
    const roomBusy = roomBusyOn(date)
    const gaps = clockGaps(date, timezone)
    const ofDate = byName.flatMap(({ doctor, busyOn }) =>
      freeSlots({ doctor, date, timezone, gaps, busy: [...busyOn(date), ...roomBusy] }, minutes, clock).map(
        (slot) => ({ ...slot, date, doctor }),
      ),
    )
    const left = after.startsWith(date) ? ofDate.filter((slot) => slotCursor(slot) > after) : ofDate
    left.sort((a, b) => a.from - b.from)
    slots.push(...left.slice(0, limit - slots.length))
  }
  return slots
}

/** The position of a slot: cursors compare as their slots are sorted. */
export const slotCursor = ({ date, from, doctor }: DoctorSlot): string =>
  `${date} ${formatTime(from)} ${nameKey(doctor)}`

/** Of a longer name, letters that are several when folded, the start is enough: it is a part of addresses. */
const MAX_NAME_KEY = 400

/** Sorts by name, without regard to case and accents, then by id. */
const nameKey = ({ fullName, id }: Doctor): string =>
  `${fold(fullName).slice(0, MAX_NAME_KEY).toWellFormed()}\0${id}`
