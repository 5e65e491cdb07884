import { createAppointment, renderAlternative, renderAppointment } from '../shared/api/appointments.ts'
import { ApiError, type ErrorBody, errorBody } from '../shared/api/errors.ts'
import type { Appointment } from '../shared/domain/appointment.ts'
import { wallClock } from '../shared/domain/clock.ts'
import { minutesOf, timeOf } from '../shared/domain/interval.ts'
import { fullName } from '../shared/domain/patient.ts'
import { nextFree, refusal } from '../shared/domain/slots.ts'
import { KeptAnswer } from '../shared/domain/stored-response.ts'
import { newUuid } from '../shared/domain/uuid.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import {
  ALTERNATIVE_DAYS,
  type BookingDecision,
  type BookingFacts,
  bookingStore,
} from '../shared/store/calendar/booking.ts'

type Booked = { data: ReturnType<typeof renderAppointment> }

export const handler = endpoint(
  createAppointment,
  { booking: bookingStore },
  async ({ clinicId, clinic, body, now, once }, { booking }) => {
    const { patient_id, doctor_id, appointment_date: date, start_time, notes } = body
    const minutes = body.duration ?? (await booking.defaultDuration(clinicId))
    const interval = { from: minutesOf(start_time), to: minutesOf(start_time) + minutes }
    const clock = wallClock(now, clinic.timezone)

    const decide = async ({
      patient,
      doctor,
      day: { busy },
    }: BookingFacts): Promise<BookingDecision<Booked, ErrorBody>> => {
      if (!patient || patient.erased) throw new ApiError('patient_not_found')
      if (!doctor) throw new ApiError('doctor_not_found')
      const day = { doctor, date, timezone: clinic.timezone, busy }
      const refused = refusal(day, interval, clock)
      if (refused === 'in_past') throw new ApiError('appointment_in_past')
      if (refused === 'outside_hours') throw new ApiError('outside_working_hours')
      if (refused === 'taken') {
        const days = await booking.daysFrom(clinicId, doctor_id, date)
        const free = nextFree(day, (on) => days.get(on)?.busy ?? [], interval, ALTERNATIVE_DAYS, clock)
        const answer = errorBody('slot_unavailable', free.map(renderAlternative))
        return { appointment: null, status: 409, answer }
      }
      const appointment: Appointment = {
        id: newUuid(),
        patient: { id: patient.id, fullName: fullName(patient) },
        doctor: { id: doctor.id, fullName: doctor.fullName },
        date,
        startTime: start_time,
        endTime: timeOf(interval.to),
        status: 'scheduled',
        notes: notes ?? null,
        createdAt: new Date(now).toISOString(),
      }
      return { appointment, status: 201, answer: { data: renderAppointment(appointment, clinic) } }
    }

    const outcome = await booking.book(
      clinicId,
      { patient: patient_id, doctor: doctor_id, date },
      once,
      decide,
    )
    if (outcome instanceof KeptAnswer) return outcome
    if (outcome.appointment === null)
      throw new ApiError('slot_unavailable', { details: outcome.answer.details })
    return outcome.answer
  },
)
