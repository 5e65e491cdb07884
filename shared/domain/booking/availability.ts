/** Which slots can be booked on several days, with several doctors. */
import { addDays, clockGaps } from '../clock.ts'
import type { Interval } from '../interval.ts'
import type { Doctor } from './doctor.ts'
import type { Moment } from './placement.ts'
import { type DatedSlot, freeSlots } from './slots.ts'

/** Days of one request, the first and the last included. */
export const MAX_AVAILABILITY_DAYS = 31

/** Doctors of one request. */
export const MAX_AVAILABILITY_DOCTORS = 20

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
  /** Time that is taken in the room, if one is asked for. */
  readonly roomBusyOn: (date: string) => readonly Interval[]
}

export type DoctorSlot = DatedSlot & { readonly doctor: Doctor }

/** The bookable slots of doctors, by date and start; at the same start in the order of the doctors. */
export function availableSlots(
  calendars: readonly DoctorCalendar[],
  { from, to, minutes, limit, roomBusyOn, timezone, clock }: AvailabilityRequest,
): DoctorSlot[] {
  const slots: DoctorSlot[] = []
  for (let date = from; date <= to && slots.length < limit; date = addDays(date, 1)) {
    const roomBusy = roomBusyOn(date)
    const gaps = clockGaps(date, timezone)
    const ofDate = calendars.flatMap(({ doctor, busyOn }) =>
      freeSlots({ doctor, date, timezone, gaps, busy: [...busyOn(date), ...roomBusy] }, minutes, clock).map(
        (slot) => ({ ...slot, date, doctor }),
      ),
    )
    ofDate.sort((a, b) => a.from - b.from)
    slots.push(...ofDate.slice(0, limit - slots.length))
  }
  return slots
}
