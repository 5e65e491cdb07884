import { describe, expect, it } from 'vitest'
import {
  type BookingFacts,
  type BookingRequest,
  bookAppointment,
} from '../../../../shared/domain/booking/book-appointment.ts'
import { aDoctor, anAppointment, aPerson } from '../../../support/sample-records.ts'

const request: BookingRequest = {
  id: 'a1',
  patient: 'p1',
  doctor: 'd1',
  date: '2026-05-04',
  startTime: '09:30',
  minutes: 45,
  treatments: [],
  room: null,
  notes: null,
  externalId: null,
  timezone: 'Europe/Istanbul',
  clock: { date: '2026-05-01', seconds: 0 },
  createdAt: '2026-05-01T07:00:00.000Z',
}

const doctor = aDoctor()

const patient = aPerson()

const inactive = { patient: { ...patient, isActive: false } }

const facts: BookingFacts = { patient, doctor, busy: [], treatments: new Map(), room: null, roomBusy: [] }

describe('bookAppointment', () => {
  it('returns the scheduled appointment with copied names and the end of the interval', () => {
    expect(bookAppointment({ ...request, notes: 'Bring papers' }, facts)).toEqual({
      kind: 'booked',
      appointment: anAppointment({ startTime: '09:30', endTime: '10:15', notes: 'Bring papers' }),
    })
  })

  it.each<[condition: string, request: Partial<BookingRequest>, facts: Partial<BookingFacts>, kind: string]>([
    ['the patient is unknown', {}, { patient: undefined }, 'patient_not_found'],
    [
      'the patient is erased',
      {},
      { patient: { ...patient, erasedAt: request.createdAt } },
      'patient_not_found',
    ],
    ['patient and doctor are unknown', {}, { patient: undefined, doctor: null }, 'patient_not_found'],
    ['the doctor is unknown', {}, { doctor: null }, 'doctor_not_found'],
    ['the patient is inactive', {}, inactive, 'patient_inactive'],
    ['the patient is inactive and the doctor unknown', {}, { ...inactive, doctor: null }, 'doctor_not_found'],
    ['the patient is inactive and the room unknown', { room: 'none' }, inactive, 'room_not_found'],
    ['the date has passed', { clock: { date: '2026-05-05', seconds: 0 } }, {}, 'in_past'],
    ['the start is now', { clock: { date: '2026-05-04', seconds: 9.5 * 3600 } }, {}, 'in_past'],
    ['the end is after the working hours', { minutes: 151 }, {}, 'outside_hours'],
    ['the doctor is inactive', {}, { doctor: { ...doctor, isActive: false } }, 'outside_hours'],
    ['its last minute is taken', {}, { busy: [{ from: 614, to: 630 }] }, 'taken'],
  ])('rejects the booking when %s', (_condition, changed, changedFacts, kind) => {
    expect(bookAppointment({ ...request, ...changed }, { ...facts, ...changedFacts })).toMatchObject({ kind })
  })

  it('books a start one second ahead, until closing time, beside a taken slot', () => {
    const latest = { ...request, minutes: 150, clock: { date: '2026-05-04', seconds: 9.5 * 3600 - 1 } }
    expect(bookAppointment(latest, { ...facts, busy: [{ from: 540, to: 570 }] })).toMatchObject({
      kind: 'booked',
      appointment: { startTime: '09:30', endTime: '12:00' },
    })
  })
})
