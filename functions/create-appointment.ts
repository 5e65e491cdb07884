import { createAppointment, renderAlternative, renderAppointment } from '../shared/api/appointments.ts'
import { ApiError, type ErrorBody, errorBody } from '../shared/api/errors.ts'
import type { Appointment } from '../shared/domain/appointment.ts'
import { wallClock } from '../shared/domain/clock.ts'
import { formatTime, parseTime } from '../shared/domain/interval.ts'
import { fullName } from '../shared/domain/patient.ts'
import { bookingRefusal, nextFreeSlots } from '../shared/domain/slots.ts'
import { newUuid } from '../shared/domain/uuid.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import {
  ALTERNATIVE_DAYS,
  type BookingContext,
  type BookingDecision,
  bookingStore,
} from '../shared/store/calendar/booking.ts'
import { StoredResponse } from '../shared/store/table/idempotency.ts'

type BookingResponse = { data: ReturnType<typeof renderAppointment> }

export const handler = endpoint(
  createAppointment,
  { booking: bookingStore },
  async ({ clinicId, clinic, body, now, idempotency }, { booking }) => {
    const { patient_id, doctor_id, appointment_date: date, start_time, notes } = body
    const minutes = body.duration ?? (await booking.defaultDuration(clinicId))
    const interval = { from: parseTime(start_time), to: parseTime(start_time) + minutes }
    const clock = wallClock(now, clinic.timezone)

    const decide = async ({
      patient,
      doctor,
      day: { busy },
    }: BookingContext): Promise<BookingDecision<BookingResponse, ErrorBody>> => {
      if (!patient || patient.erased) throw new ApiError('patient_not_found')
      if (!doctor) throw new ApiError('doctor_not_found')
      const day = { doctor, date, timezone: clinic.timezone, busy }
      const reason = bookingRefusal(day, interval, clock)
      if (reason === 'in_past') throw new ApiError('appointment_in_past')
      if (reason === 'outside_hours') throw new ApiError('outside_working_hours')
      if (reason === 'taken') {
        const days = await booking.findDays(clinicId, doctor_id, date)
        const free = nextFreeSlots(day, (on) => days.get(on)?.busy ?? [], interval, ALTERNATIVE_DAYS, clock)
        const response = errorBody('slot_unavailable', free.map(renderAlternative))
        return { appointment: null, status: 409, response }
      }
      const appointment: Appointment = {
        id: newUuid(),
        patient: { id: patient.id, fullName: fullName(patient) },
        doctor: { id: doctor.id, fullName: doctor.fullName },
        date,
        startTime: start_time,
        endTime: formatTime(interval.to),
        status: 'scheduled',
        notes: notes ?? null,
        createdAt: new Date(now).toISOString(),
      }
      return { appointment, status: 201, response: { data: renderAppointment(appointment, clinic) } }
    }

    const outcome = await booking.book(
      clinicId,
      { patient: patient_id, doctor: doctor_id, date },
      idempotency,
      decide,
    )
    if (outcome instanceof StoredResponse) return outcome
    if (outcome.appointment === null)
      throw new ApiError('slot_unavailable', { details: outcome.response.details })
    return outcome.response
  },
)
