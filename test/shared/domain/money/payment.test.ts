import { describe, expect, it } from 'vitest'
import {
  NEW_PAYMENT,
  type Payment,
  refundable,
  voidPayment,
} from '../../../../shared/domain/money/payment.ts'

const payment: Payment = {
  id: 'y1',
  invoice: { id: 'i1', number: '2026-17 Kaya' },
  patient: { id: 'p1', fullName: 'Ada Kaya' },
  amount: 12_050,
  currency: 'EUR',
  type: 'payment',
  method: 'card',
  status: 'completed',
  description: 'For the X-ray',
  date: '2026-05-04',
  voidedAt: '2026-05-05T07:00:00.000Z',
  voidReason: 'Paid by Ada Kaya herself',
  createdAt: '2026-05-04T07:00:00.000Z',
}

describe('voidPayment', () => {
  const stored = { ...payment, ...NEW_PAYMENT }
  const at = '2026-05-06T07:00:00.000Z'

  it.each(['pending', 'completed', 'refunded'] as const)(
    'lets a payment that is %s no longer count',
    (status) => {
      expect(voidPayment({ ...stored, status }, at, 'Mistyped')).toEqual({
        ...stored,
        status: 'failed',
        voidedAt: at,
        voidReason: 'Mistyped',
      })
    },
  )

  it('voids no payment that failed or is voided', () => {
    expect(voidPayment({ ...stored, status: 'failed' }, at, 'Mistyped')).toBeNull()
  })
})

it.each([
  [0, []],
  [12_050, [payment]],
  [7_050, [payment, { ...payment, type: 'refund', amount: 5_000 }]],
  [7_050, [payment, { ...payment, type: 'refund', amount: 5_000, status: 'pending' }]],
  [12_050, [payment, { ...payment, type: 'refund', status: 'failed' }, { ...payment, status: 'pending' }]],
  [
    -12_050,
    [
      { ...payment, status: 'refunded' },
      { ...payment, type: 'refund' },
    ],
  ],
] as [number, Payment[]][])('returns that %i can be refunded of payments %#', (left, payments) => {
  expect(refundable(payments)).toBe(left)
})
