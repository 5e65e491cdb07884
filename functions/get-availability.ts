import { getAvailability, renderSlot } from '../shared/api/availability.ts'
import { ApiError } from '../shared/api/errors.ts'
import { availableSlots } from '../shared/domain/booking/availability.ts'
import { wallClock } from '../shared/domain/clock.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { availabilityStore } from '../shared/store/calendar/availability.ts'
import { bookingStore } from '../shared/store/calendar/booking.ts'

export const handler = endpoint(
  getAvailability,
  { availability: availabilityStore, booking: bookingStore },
  async ({ clinicId, clinic: { timezone }, query, now }, { availability, booking }) => {
    const { duration, limit, date: from, ...asked } = query
    const { date_to: to = from, doctor_id, treatment_id, room_id } = asked
    const question = { doctor: doctor_id, treatment: treatment_id, room: room_id, from, to }
    const [facts, byDefault] = await Promise.all([
      availability.read(clinicId, question),
      duration ?? (treatment_id === undefined ? booking.defaultDuration(clinicId) : 0),
    ])
    if (facts.kind !== 'found') throw new ApiError(facts.kind)
    const { calendars, roomBusyOn, treatment } = facts
    const minutes = duration ?? treatment?.minutes ?? byDefault
    const clock = wallClock(now, timezone)
    const slots = availableSlots(calendars, { from, to, minutes, limit, roomBusyOn, timezone, clock })
    return {
      data: slots.map((slot) => renderSlot(slot, query)),
      meta: { date: from, ...asked, duration_minutes: minutes, count: slots.length },
    }
  },
)
