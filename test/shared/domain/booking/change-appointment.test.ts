import { describe, expect, it } from 'vitest'
import type { Appointment } from '../../../../shared/domain/booking/appointment.ts'
import {
  type AppointmentChanges,
  type ChangeFacts,
  changeAppointment,
  movedParts,
  targetOf,
} from '../../../../shared/domain/booking/change-appointment.ts'
import { parseWeeklyHours } from '../../../../shared/domain/booking/working-hours.ts'
import { aRoom, aTreatment } from '../../../support/catalogue.ts'
import { aDoctor, anAppointment, aPerson } from '../../../support/sample-records.ts'

const at = '2026-05-01T07:00:00.000Z'
const doctor = aDoctor({ fullName: 'Dr. Bo Lind-Berg', hours: parseWeeklyHours('mon-sun 09:00-17:00') })
const patient = aPerson()
const room = aRoom({ id: 'r2', name: 'Room 2' })
const treatment = aTreatment({ id: 't1', name: 'Check-up, new name', minutes: 60, doctorIds: ['d1', 'd2'] })

const before = anAppointment({
  endTime: '09:45',
  notes: 'First appointment',
  treatments: [{ id: 't1', name: 'Check-up' }],
  room: { id: 'r1', name: 'Room 1' },
  confirmedAt: at,
})
const facts: ChangeFacts = {
  patient,
  doctor,
  busy: [],
  treatments: new Map([
    ['t1', treatment],
    ['t2', { ...treatment, id: 't2', name: 'X-ray' }],
  ]),
  room: null,
  roomBusy: [],
}
const moment = { timezone: 'Europe/Istanbul', clock: { date: '2026-05-01', seconds: 0 } }
const change = (changes: AppointmentChanges, more: Partial<ChangeFacts> = {}, of = before) =>
  changeAppointment(of, changes, { ...facts, ...more }, moment)

const xRay = { id: 't2', name: 'X-ray' }

/** The field that every move sets: the doctor's present name. */
const moved = { doctor: { id: 'd1', fullName: doctor.fullName } }

/** The appointment as booked, whatever the catalogue says now. */
const room1 = { room: { ...room, id: 'r1', name: 'Room 1, new name' } }

describe('movedParts', () => {
  const none = { time: false, room: false, treatments: false }

  it.each<[AppointmentChanges, object]>([
    [{}, {}],
    [{ notes: null, startTime: '09:00', minutes: 45, doctor: 'd1', room: 'r1', treatments: ['t1'] }, {}],
    [{ date: '2026-05-05' }, { time: true, room: true }],
    [{ startTime: '09:01' }, { time: true, room: true }],
    [{ endTime: '09:50' }, { time: true, room: true }],
    [{ startTime: '09:01', room: null }, { time: true }],
    [
      { startTime: '09:01', minutes: 5 },
      { time: true, room: true },
    ],
    [{ doctor: 'd2' }, { time: true, treatments: true }],
    [{ room: 'r2' }, { room: true }],
    [{ treatments: ['t1', 't2'] }, { treatments: true }],
    // These only release something.
    [{ minutes: 44, room: null, treatments: [] }, {}],
  ])('of %j are %j', (changes, moved) => {
    expect(movedParts(before, targetOf(before, changes))).toEqual({ ...none, ...moved })
  })
})

it.each<[AppointmentChanges, string, number]>([
  [{ startTime: '10:00' }, '10:00', 45],
  [{ endTime: '10:00' }, '09:00', 60],
  [{ startTime: '10:00', endTime: '10:20' }, '10:00', 20],
  [{ minutes: 15 }, '09:00', 15],
  [{ treatments: ['t1', 't2'] }, '09:00', 45],
])('targetOf of %j begins at %s and takes %i minutes', (changes, startTime, minutes) => {
  expect(targetOf(before, changes)).toMatchObject({ startTime, minutes })
})

describe('changeAppointment', () => {
  it.each<[condition: string, AppointmentChanges, Partial<Appointment>]>([
    ['notes', { notes: null }, { notes: null }],
    ['another doctor', { doctor: 'd1' }, {}],
    [
      'another start, which the patient has not confirmed',
      { startTime: '10:00' },
      { ...moved, startTime: '10:00', endTime: '10:45', confirmedAt: null },
    ],
    ['another length', { minutes: 60 }, { ...moved, endTime: '10:00' }],
    ['no room', { room: null }, { room: null }],
    [
      'other treatments, and the name as booked of the one that stays',
      { treatments: ['t2', 't1'] },
      { treatments: [xRay, ...before.treatments] },
    ],
  ])('sets %s', (_condition, changes, expected) => {
    expect(change(changes, room1)).toEqual({ kind: 'done', appointment: { ...before, ...expected } })
  })

  it('sets another room and another doctor with their present names', () => {
    const other = { ...doctor, id: 'd2', fullName: 'Dr. Cem' }
    expect(change({ room: 'r2', doctor: 'd2' }, { room, doctor: other })).toMatchObject({
      kind: 'done',
      appointment: { doctor: { id: 'd2', fullName: 'Dr. Cem' }, room: { id: 'r2', name: 'Room 2' } },
    })
  })

  it('returns the same appointment when nothing changes, even if it is closed', () => {
    expect(change({})).toEqual({ kind: 'done', appointment: before })
    const closed = { ...before, status: 'completed' as const }
    expect(change({ notes: 'First appointment' }, {}, closed)).toEqual({ kind: 'done', appointment: closed })
  })

  const unknown = { kind: 'doctor_not_found' }
  const cancelled = { status: 'cancelled' } as const
  const invalid = (...problems: object[]) => ({ kind: 'invalid', problems })
  const inactive = { patient: { ...patient, isActive: false } }
  const taken = [{ from: 585, to: 600 }]

  it.each<[condition: string, AppointmentChanges, object, Partial<ChangeFacts>?, Partial<Appointment>?]>([
    ['the patient is missing', {}, { kind: 'not_found' }, { patient: undefined }],
    ['the patient is erased', {}, { kind: 'not_found' }, { patient: { ...patient, erasedAt: at } }],
    ['it is closed', { notes: null }, { kind: 'closed' }, {}, { status: 'no_show' }],
    ['it is closed and the end is wrong', { endTime: '09:00' }, { kind: 'closed' }, {}, cancelled],
    ['it is closed and the doctor is unknown', { doctor: 'd3' }, unknown, { doctor: null }, cancelled],
    ['the doctor is unknown', { doctor: 'd3' }, unknown, { doctor: null }],
    ['the doctor is taken', { minutes: 60 }, { kind: 'taken' }, { ...room1, busy: taken }],
    ['the room is taken', { minutes: 60 }, { kind: 'room_taken' }, { ...room1, roomBusy: taken }],
    ['the new time has passed', { date: '2026-04-30' }, { kind: 'in_past' }, room1],
    ['it moves outside the hours', { startTime: '16:30' }, { kind: 'outside_hours', reason: 'hours' }, room1],
    [
      'the patient is inactive',
      { startTime: '10:00' },
      { kind: 'patient_inactive' },
      { ...room1, ...inactive },
    ],
    [
      'the new doctor does not offer the treatment that stays',
      { doctor: 'd3' },
      invalid({ kind: 'treatment_not_offered', index: 0 }),
      { doctor: { ...doctor, id: 'd3' } },
    ],
    ['end and length disagree', { endTime: '10:00', minutes: 30 }, invalid({ kind: 'end_differs' })],
    [
      'it ends too early',
      { startTime: '10:00', endTime: '09:45' },
      invalid({ kind: 'length_out_of_range' }),
      room1,
    ],
  ])('rejects the change when %s', (_condition, changes, expected, more = {}, facts = {}) => {
    expect(change(changes, more, { ...before, ...facts })).toEqual(expected)
  })

  it('leaves what does not move as booked, and releases what is not needed, though it could not be booked now', () => {
    const past = { ...before, date: '2020-01-01' }
    const gone = { doctor: null, treatments: new Map(), ...inactive }
    expect(change({ notes: 'Came late' }, gone, past)).toMatchObject({ kind: 'done' })
    expect(change({ endTime: '09:30', room: null, treatments: [] }, gone, past)).toEqual({
      kind: 'done',
      appointment: { ...past, endTime: '09:30', room: null, treatments: [] },
    })
    // The treatment has been removed since.
    const removed = { ...room1, treatments: new Map() }
    expect(change({ startTime: '10:00' }, removed)).toMatchObject({ kind: 'done' })
  })
})
