import { describe, expect, it } from 'vitest'
import {
  alternativesTo,
  type BookingFacts,
  type BookingRequest,
  bookAppointment,
} from '../../../shared/domain/book-appointment.ts'
import type { Doctor } from '../../../shared/domain/doctor.ts'
import { NO_DETAILS } from '../../../shared/domain/patient.ts'
import { parseWeeklyHours } from '../../../shared/domain/working-hours.ts'

const request: BookingRequest = {
  id: 'a1',
  patient: 'p1',
  doctor: 'd1',
  date: '2026-05-04',
  startTime: '09:30',
  minutes: 45,
  notes: null,
  timezone: 'Europe/Istanbul',
  clock: { date: '2026-05-01', seconds: 0 },
  createdAt: '2026-05-01T07:00:00.000Z',
}

const doctor: Doctor = {
  id: 'd1',
  fullName: 'Dr. Bo',
  specialty: null,
  isActive: true,
  hours: parseWeeklyHours('mon-sun 09:00-12:00'),
  breaks: {},
  timeOff: [],
  exceptions: {},
}

const patient = {
  id: 'p1',
  firstName: 'Ada',
  lastName: 'Kaya',
  ...NO_DETAILS,
  createdAt: '2026-01-01T00:00:00.000Z',
}

const facts: BookingFacts = { patient, doctor, busy: [] }

describe('bookAppointment', () => {
  it('returns the scheduled appointment with copied names and the end of the interval', () => {
    expect(bookAppointment({ ...request, notes: 'Bring papers' }, facts)).toEqual({
      kind: 'booked',
      appointment: {
        id: 'a1',
        patient: { id: 'p1', fullName: 'Ada Kaya' },
        doctor: { id: 'd1', fullName: 'Dr. Bo' },
        date: '2026-05-04',
        startTime: '09:30',
        endTime: '10:15',
        status: 'scheduled',
        notes: 'Bring papers',
        createdAt: '2026-05-01T07:00:00.000Z',
      },
    })
  })

  it.each<[condition: string, request: Partial<BookingRequest>, facts: Partial<BookingFacts>, kind: string]>([
    ['the patient is unknown', {}, { patient: undefined }, 'patient_not_found'],
    [
      'the patient is erased',
      {},
      { patient: { ...patient, erasedAt: '2026-05-01T07:00:00.000Z' } },
      'patient_not_found',
    ],
    ['patient and doctor are unknown', {}, { patient: undefined, doctor: null }, 'patient_not_found'],
    ['the doctor is unknown', {}, { doctor: null }, 'doctor_not_found'],
    ['the patient is inactive', {}, { patient: { ...patient, isActive: false } }, 'patient_inactive'],
    [
      'the patient is inactive and the doctor unknown',
      {},
      { patient: { ...patient, isActive: false }, doctor: null },
      'doctor_not_found',
    ],
    ['the date has passed', { clock: { date: '2026-05-05', seconds: 0 } }, {}, 'in_past'],
    ['the start is now', { clock: { date: '2026-05-04', seconds: 9.5 * 3600 } }, {}, 'in_past'],
    ['the end is after the working hours', { minutes: 151 }, {}, 'outside_hours'],
    ['the doctor is inactive', {}, { doctor: { ...doctor, isActive: false } }, 'outside_hours'],
    ['its last minute is taken', {}, { busy: [{ from: 614, to: 630 }] }, 'taken'],
  ])('refuses when %s', (_condition, changed, changedFacts, kind) => {
    expect(bookAppointment({ ...request, ...changed }, { ...facts, ...changedFacts })).toEqual({ kind })
  })

  it('books a start one second ahead, until closing time, beside a taken slot', () => {
    const latest = { ...request, minutes: 150, clock: { date: '2026-05-04', seconds: 9.5 * 3600 - 1 } }
    expect(bookAppointment(latest, { ...facts, busy: [{ from: 540, to: 570 }] })).toMatchObject({
      kind: 'booked',
      appointment: { startTime: '09:30', endTime: '12:00' },
    })
  })
})

describe('alternativesTo', () => {
  it('offers at most three free times of the same length, later that day first', () => {
    const busyOn = (date: string) => (date === '2026-05-04' ? [{ from: 570, to: 660 }] : [])
    expect(alternativesTo(request, doctor, busyOn)).toEqual([
      { date: '2026-05-04', from: 675, to: 720 },
      { date: '2026-05-05', from: 540, to: 585 },
      { date: '2026-05-05', from: 585, to: 630 },
    ])
  })

  it.each([
    ['offers a time on the fourteenth day', '2026-05-18', ['2026-05-18', '2026-05-18', '2026-05-18']],
    ['offers nothing after the fourteenth day', '2026-05-19', []],
  ])('%s', (_outcome, firstFree, dates) => {
    const busyOn = (date: string) => (date < firstFree ? [{ from: 0, to: 1440 }] : [])
    expect(alternativesTo(request, doctor, busyOn).map(({ date }) => date)).toEqual(dates)
  })
})
