import { describe, expect, it } from 'vitest'
import type { Treatment } from '../../../../shared/domain/booking/catalogue.ts'
import {
  alternativesTo,
  intervalOf,
  type Placement,
  type PlacementFacts,
  type PlacementRejection,
  placementRejection,
} from '../../../../shared/domain/booking/placement.ts'
import { aRoom, aTreatment } from '../../../support/catalogue.ts'
import { aDoctor } from '../../../support/sample-records.ts'

const doctor = aDoctor()
const room = aRoom({ id: 'r1' })
const treatment = (id: string, facts: Partial<Treatment> = {}): [string, Treatment] => [
  id,
  aTreatment({ id, doctorIds: ['d1'], ...facts }),
]
const treatments = new Map([
  treatment('t1'),
  treatment('t2', { minutes: 15 }),
  treatment('off', { isActive: false }),
  treatment('other', { doctorIds: ['d2'] }),
  treatment('long', { minutes: 480 }),
])

const placement: Placement = {
  doctor: 'd1',
  date: '2026-05-04',
  startTime: '09:30',
  minutes: 45,
  treatments: [],
  room: null,
}
const facts: PlacementFacts = { doctor, busy: [], treatments, room: null, roomBusy: [] }
const moment = { timezone: 'Europe/Istanbul', clock: { date: '2026-05-01', seconds: 0 } }

const from = (minute: number) => [{ from: minute, to: 700 }]
const invalid = (...problems: object[]) => ({ kind: 'invalid', problems }) as PlacementRejection

describe('placementRejection', () => {
  it.each<[condition: string, Partial<Placement>, Partial<PlacementFacts>, PlacementRejection | null]>([
    ['everything is free', { treatments: ['t1'], room: 'r1' }, { room }, null],
    ['the room is free until the start', { room: 'r1' }, { room, roomBusy: [{ from: 540, to: 570 }] }, null],
    ['the room is taken at its end', { room: 'r1' }, { room, roomBusy: from(614) }, { kind: 'room_taken' }],
    ['both are taken', { room: 'r1' }, { room, busy: from(600), roomBusy: from(600) }, { kind: 'taken' }],
    ['the doctor is unknown', { room: 'r2' }, { doctor: null }, { kind: 'doctor_not_found' }],
    ['the room is unknown', { room: 'r2' }, {}, { kind: 'room_not_found' }],
    [
      'treatments and the room are unknown, and a treatment is inactive',
      { treatments: ['t1', 'none', 'off', 'neither'], room: 'r2' },
      {},
      { kind: 'treatment_not_found', indexes: [1, 3] },
    ],
    [
      'the room is inactive, and outside hours',
      { room: 'r1', startTime: '20:00' },
      { room: { ...room, isActive: false } },
      invalid({ kind: 'inactive_room' }),
    ],
    [
      'several things are wrong',
      { treatments: ['t1', 'off', 'other'], room: 'r1' },
      { room: { ...room, isActive: false } },
      invalid(
        { kind: 'inactive_treatment', index: 1 },
        { kind: 'treatment_not_offered', index: 2 },
        { kind: 'inactive_room' },
      ),
    ],
    [
      'they take too long',
      { treatments: ['long', 't2'], minutes: null },
      {},
      invalid({ kind: 'treatments_too_long' }),
    ],
    ['long treatments have another length', { treatments: ['long', 't2'] }, {}, null],
    [
      'treatments end after the hours',
      { treatments: ['t1', 't2'], minutes: null, startTime: '11:16' },
      {},
      { kind: 'outside_hours', reason: 'hours' },
    ],
  ])('decides when %s', (_condition, changed, changedFacts, expected) => {
    expect(placementRejection({ ...placement, ...changed }, { ...facts, ...changedFacts }, moment)).toEqual(
      expected,
    )
  })

  it('checks only the parts that it is asked for', () => {
    const wrong = { ...placement, startTime: '20:00', treatments: ['none'], room: 'r2' }
    const unread = { ...facts, doctor: null, treatments: new Map() }
    const only = (part: string) => ({ time: false, room: false, treatments: false, [part]: true })
    expect(placementRejection(wrong, unread, moment, only('none'))).toBeNull()
    expect(placementRejection(wrong, facts, moment, only('time'))).toEqual({
      kind: 'outside_hours',
      reason: 'hours',
    })
    expect(placementRejection(wrong, unread, moment, only('room'))).toEqual({ kind: 'room_not_found' })
    expect(placementRejection(wrong, unread, moment, only('treatments'))).toEqual({
      kind: 'treatment_not_found',
      indexes: [0],
    })
  })
})

it('intervalOf takes the time of all treatments, or the length that is given', () => {
  const two = { ...placement, treatments: ['t1', 't2'] }
  expect(intervalOf({ ...two, minutes: null }, facts)).toEqual({ from: 570, to: 615 })
  expect(intervalOf({ ...two, minutes: 20 }, facts)).toEqual({ from: 570, to: 590 })
})

describe('alternativesTo', () => {
  const request = placement
  const known = { doctor, treatments }

  it('offers at most three free times of the same length, later that day first', () => {
    const busyOn = (date: string) => (date === '2026-05-04' ? [{ from: 570, to: 660 }] : [])
    expect(alternativesTo(request, known, moment, busyOn)).toEqual([
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
    expect(alternativesTo(request, known, moment, busyOn).map(({ date }) => date)).toEqual(dates)
  })
})
