import { describe, expect, it } from 'vitest'
import {
  APPOINTMENT_FIELDS,
  APPOINTMENT_STATUSES,
  type Appointment,
  canTransition,
  NEW_APPOINTMENT,
  occupiesSlot,
} from '../../../../shared/domain/booking/appointment.ts'
import { eraseFields } from '../../../../shared/domain/field-policy.ts'
import { silentFields } from '../../../support/field-policies.ts'

it('has four statuses', () => {
  expect(APPOINTMENT_STATUSES).toEqual(['scheduled', 'completed', 'cancelled', 'no_show'])
})

describe('canTransition', () => {
  it('allows a scheduled appointment to end in any way', () => {
    const allowed = APPOINTMENT_STATUSES.flatMap((from) =>
      APPOINTMENT_STATUSES.filter((to) => canTransition(from, to)).map((to) => [from, to]),
    )
    expect(allowed).toEqual([
      ['scheduled', 'completed'],
      ['scheduled', 'cancelled'],
      ['scheduled', 'no_show'],
    ])
  })
})

describe('occupiesSlot', () => {
  it.each([
    ['scheduled', true],
    ['completed', true],
    ['cancelled', false],
    ['no_show', false],
  ] as const)('returns for %s: %s', (status, expected) => {
    expect(occupiesSlot(status)).toBe(expected)
  })
})

describe('APPOINTMENT_FIELDS', () => {
  const appointment: Appointment = {
    id: 'a1',
    ...NEW_APPOINTMENT,
    patient: { id: 'p1', fullName: 'Ada Kaya' },
    doctor: { id: 'd1', fullName: 'Dr. Bo Lind' },
    date: '2026-05-04',
    startTime: '09:00',
    endTime: '09:30',
    notes: 'Cough',
    cancellationReason: 'Feels better',
    createdAt: '2026-05-01T07:00:00.000Z',
  }

  it('replaces the patient’s name, the notes and the reason of a cancellation on erasure', () => {
    expect(eraseFields(appointment, APPOINTMENT_FIELDS)).toEqual({
      ...appointment,
      patient: { id: 'p1', fullName: 'Erased Patient' },
      notes: null,
      cancellationReason: null,
    })
  })

  it('makes an event for a change of any field but the copied names', () => {
    expect(silentFields(APPOINTMENT_FIELDS)).toEqual(['patient.fullName', 'doctor.fullName'])
  })
})
