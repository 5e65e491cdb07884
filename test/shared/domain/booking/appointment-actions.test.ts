import { describe, expect, it } from 'vitest'
import type { Appointment } from '../../../../shared/domain/booking/appointment.ts'
import {
  type AppointmentAction,
  applyAction,
  closeAs,
  isUpcoming,
} from '../../../../shared/domain/booking/appointment-actions.ts'
import { anAppointment } from '../../../support/sample-records.ts'

const appointment = anAppointment()
/** The start of the appointment. */
const at = '2026-05-04T06:00:00.000Z'
const now = { at, timezone: 'Europe/Istanbul' }
const later = { ...now, at: '2026-05-04T07:00:00.000Z' }

const ACTIONS: readonly [AppointmentAction, Partial<Appointment>][] = [
  [{ kind: 'confirm' }, { confirmedAt: at }],
  [{ kind: 'check_in' }, { checkedInAt: at }],
  [{ kind: 'complete' }, { status: 'completed' }],
  [{ kind: 'no_show' }, { status: 'no_show' }],
  [
    { kind: 'cancel', reason: 'Ill' },
    { status: 'cancelled', cancelledAt: at, cancellationReason: 'Ill' },
  ],
]
const ENDINGS = ACTIONS.slice(2)

describe('applyAction', () => {
  it.each(ACTIONS)('applies %j to a scheduled appointment, once', (action, changes) => {
    const after = { ...appointment, ...changes }
    expect(applyAction(appointment, action, now)).toEqual({ kind: 'done', appointment: after })
    const again = action.kind === 'cancel' ? { ...action, reason: 'Other' } : action
    expect(applyAction(after, again, later)).toEqual({ kind: 'done', appointment: after })
  })

  it.each(ENDINGS)('rejects every other action after %j', (ending, changes) => {
    // The appointment was confirmed and the patient checked in before.
    const closed = { ...appointment, confirmedAt: at, checkedInAt: at, ...changes }
    for (const [action] of ACTIONS)
      if (action.kind !== ending.kind) expect(applyAction(closed, action, now)).toEqual({ kind: 'closed' })
  })
})

describe('the time of an action', () => {
  const DAY = '2026-05-03T21:00:00.000Z'
  it.each([
    ['check_in', DAY],
    ['complete', DAY],
    ['no_show', at],
  ] as const)('lets %s happen from %s on, and rejects it a millisecond earlier', (kind, from) => {
    const early = { ...now, at: new Date(Date.parse(from) - 1).toISOString() }
    expect(applyAction(appointment, { kind }, early)).toEqual({ kind: 'not_due', from })
    expect(applyAction(appointment, { kind }, { ...now, at: from })).toMatchObject({ kind: 'done' })
  })

  it('is not checked for a confirmation, a cancellation, a repetition and a closed appointment', () => {
    const early = { ...now, at: '2026-01-01T00:00:00.000Z' }
    for (const [action] of [ACTIONS[0], ACTIONS[4]] as (typeof ACTIONS)[number][])
      expect(applyAction(appointment, action, early)).toMatchObject({ kind: 'done' })
    for (const [action, changes] of ACTIONS) {
      const after = { ...appointment, ...changes }
      expect(applyAction(after, action, early)).toEqual({ kind: 'done', appointment: after })
    }
    const cancelled = { ...appointment, status: 'cancelled' as const }
    expect(applyAction(cancelled, { kind: 'complete' }, early)).toEqual({ kind: 'closed' })
  })

  it('begins a day whose midnight clocks skip with its first instant', () => {
    const summer = { ...appointment, date: '2026-04-24' }
    const early = { at, timezone: 'Africa/Cairo' }
    expect(applyAction(summer, { kind: 'complete' }, { ...early, at: '2026-04-23T21:59:59.999Z' })).toEqual({
      kind: 'not_due',
      from: '2026-04-23T22:00:00.000Z',
    })
  })
})

describe('isUpcoming', () => {
  const nine = 9 * 3600
  it.each([
    ['2026-05-03', nine, true],
    ['2026-05-04', nine - 1, true],
    ['2026-05-04', nine, true],
    ['2026-05-04', nine + 1, false],
    ['2026-05-05', 0, false],
  ])('tells on %s at second %i whether the appointment is ahead: %s', (date, seconds, expected) => {
    expect(isUpcoming(appointment, { date, seconds })).toBe(expected)
    expect(isUpcoming({ ...appointment, status: 'cancelled' }, { date, seconds })).toBe(false)
  })
})

describe('closeAs', () => {
  it('leaves a scheduled appointment as it is, and opens no closed one', () => {
    expect(closeAs(appointment, 'scheduled', { at })).toEqual({ kind: 'done', appointment })
    expect(closeAs({ ...appointment, status: 'completed' }, 'scheduled', { at })).toEqual({ kind: 'closed' })
  })

  it('cancels without a reason', () => {
    expect(closeAs(appointment, 'cancelled', { at })).toMatchObject({
      appointment: { cancelledAt: at, cancellationReason: null },
    })
  })
})
