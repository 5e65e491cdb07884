import { getAvailability, renderSlot } from '../shared/api/availability.ts'
import { ApiError } from '../shared/api/errors.ts'
import { wallClock } from '../shared/domain/clock.ts'
import { freeSlots } from '../shared/domain/slots.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { bookingStore } from '../shared/store/calendar/booking.ts'

export const handler = endpoint(
  getAvailability,
  { booking: bookingStore },
  async ({ clinicId, clinic: { timezone }, query: { doctor_id, date, duration }, now }, { booking }) => {
    const [doctor, { busy }, minutes] = await Promise.all([
      booking.findDoctor(clinicId, doctor_id),
      booking.findDay(clinicId, doctor_id, date),
      duration ?? booking.defaultDuration(clinicId),
    ])
    if (!doctor) throw new ApiError('doctor_not_found')
    const slots = freeSlots({ doctor, date, timezone, busy }, minutes, wallClock(now, timezone))
    const meta = { date, doctor_id, duration_minutes: minutes, count: slots.length }
    return { data: slots.map(renderSlot), meta }
  },
)
