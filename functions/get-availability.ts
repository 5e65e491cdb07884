import { getAvailability, renderPaging, renderSlot, treatmentsTooLong } from '../shared/api/availability.ts'
import { ApiError } from '../shared/api/errors.ts'
import { invalidCursor } from '../shared/api/schemas.ts'
import {
  availableSlots,
  type DoctorSlot,
  MAX_SLOTS,
  slotCursor,
} from '../shared/domain/booking/availability.ts'
import { MAX_DURATION } from '../shared/domain/booking/placement.ts'
import { addDays, wallClock } from '../shared/domain/clock.ts'
import { isCalendarDate } from '../shared/domain/timestamp.ts'
import { listCursors } from '../shared/requests/record-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { availabilityStore } from '../shared/store/calendar/availability.ts'
import { bookingStore } from '../shared/store/calendar/booking.ts'

export const handler = endpoint(
  getAvailability,
  { availability: availabilityStore, booking: bookingStore },
  async ({ clinicId, clinic: { timezone, restores }, query, now }, { availability, booking }) => {
    const { limit = MAX_SLOTS, after: encoded, duration, date, ...asked } = query
    const { date_to: to = date, doctor_id, treatment_id, treatment_ids, room_id } = asked
    const filters = { date, duration, ...asked }
    const cursors = listCursors({ list: 'availability', clinic: clinicId, restores, filters })
    const after = encoded === undefined ? date : cursors.decode(encoded)
    const start = after.slice(0, 10)
    if (!isCalendarDate(start) || start < date || start > to) throw invalidCursor()

    const clock = wallClock(now, timezone)
    const present = start < clock.date ? clock.date : start
    const from = present < to ? present : to
    const treatments = treatment_ids ?? (treatment_id === undefined ? [] : [treatment_id])
    const [facts, byDefault] = await Promise.all([
      availability.read(clinicId, { doctor: doctor_id, treatments, room: room_id, from, to }),
      duration ?? (treatments.length === 0 ? booking.defaultDuration(clinicId) : 0),
    ])
    if (facts.kind !== 'found') throw new ApiError(facts.kind)
    const minutes = duration ?? facts.treatments.reduce((sum, one) => sum + one.minutes, byDefault)
    if (minutes > MAX_DURATION) throw treatmentsTooLong()

    const { roomBusyOn } = facts
    const request = { minutes, limit: limit + 1, after, roomBusyOn, timezone, clock }
    let slots: DoctorSlot[] = []
    let next: string | null = null
    for await (const { calendars, ...days } of facts.portions) {
      const found = availableSlots(calendars, { ...request, ...days })
      slots = found.slice(0, limit)
      const [last] = slots.slice(-1)
      if (!last) continue
      if (found.length > limit) next = slotCursor(last)
      else if (days.to < to) next = addDays(days.to, 1)
      break
    }
    return {
      data: slots.map((slot) => renderSlot(slot, query)),
      meta: {
        date,
        ...asked,
        duration_minutes: minutes,
        count: slots.length,
        ...renderPaging(next && cursors.encode(next), query),
      },
    }
  },
)
