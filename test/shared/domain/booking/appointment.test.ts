import { expect, it } from 'vitest'
import {
  APPOINTMENT_STATUSES,
  canTransition,
  occupiesSlot,
} from '../../../../shared/domain/booking/appointment.ts'

it('canTransition allows a scheduled appointment to end in any way', () => {
  const allowed = APPOINTMENT_STATUSES.flatMap((from) =>
    APPOINTMENT_STATUSES.filter((to) => canTransition(from, to)).map((to) => [from, to]),
  )
  expect(allowed).toEqual([
    ['scheduled', 'completed'],
    ['scheduled', 'cancelled'],
    ['scheduled', 'no_show'],
  ])
})

it.each([
  ['scheduled', true],
  ['completed', true],
  ['cancelled', false],
  ['no_show', false],
] as const)('occupiesSlot returns for %s: %s', (status, expected) => {
  expect(occupiesSlot(status)).toBe(expected)
})
