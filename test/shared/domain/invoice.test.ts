import { describe, expect, it } from 'vitest'
import { applyPayments, type Invoice, subtotalOf, taxOn } from '../../../shared/domain/invoice.ts'
import type { Payment } from '../../../shared/domain/payment.ts'

const invoice = (facts: Partial<Invoice> = {}) =>
  ({ clinicStatus: 'sent', status: 'sent', total: 100, paid: 0, paidAt: null, ...facts }) as Invoice
const payment = (amount: number, facts: Partial<Payment> = {}) =>
  ({
    amount,
    type: 'payment',
    status: 'completed',
    createdAt: '2026-01-01T00:00:00.000Z',
    ...facts,
  }) as Payment

describe('settled', () => {
  it.each<[string, Invoice, Payment[], Partial<Invoice>]>([
    ['nothing paid', invoice(), [], { status: 'sent', paid: 0 }],
    ['a part', invoice(), [payment(40)], { status: 'partially_paid', paid: 40, paidAt: null }],
    [
      'all in parts',
      invoice(),
      [payment(40), payment(60, { createdAt: '2026-02-01T00:00:00.000Z' })],
      { status: 'paid', paid: 100, paidAt: '2026-02-01T00:00:00.000Z' },
    ],
    ['too much', invoice(), [payment(140)], { status: 'paid', paid: 140 }],
    [
      'pending and failed ones',
      invoice(),
      [payment(40, { status: 'pending' }), payment(60, { status: 'failed' })],
      { status: 'sent', paid: 0 },
    ],
    [
      'a refund of a part',
      invoice(),
      [payment(100), payment(30, { type: 'refund' })],
      { status: 'partially_paid', paid: 70, paidAt: null },
    ],
    [
      'a refund of all',
      invoice(),
      [payment(100), payment(100, { type: 'refund' })],
      { status: 'refunded', paid: 0, paidAt: null },
    ],
    ['overdue and a part', invoice({ clinicStatus: 'overdue' }), [payment(40)], { status: 'partially_paid' }],
    ['overdue and nothing', invoice({ clinicStatus: 'overdue' }), [], { status: 'overdue' }],
    ['cancelled', invoice({ clinicStatus: 'cancelled' }), [payment(100)], { status: 'cancelled', paid: 100 }],
    [
      'paid by the clinic’s word',
      invoice({ clinicStatus: 'paid', paidAt: '2026-03-01T00:00:00.000Z' }),
      [],
      { status: 'paid', paidAt: '2026-03-01T00:00:00.000Z' },
    ],
  ])('with %s', (_, before, payments, after) => {
    expect(applyPayments(before, payments)).toMatchObject(after)
    expect(applyPayments(applyPayments(before, payments), payments)).toEqual(applyPayments(before, payments))
    expect(applyPayments(before, [...payments].reverse())).toEqual(applyPayments(before, payments))
  })
})

it('rounds a subtotal once, half up', () => {
  const half = { quantity: 5_000, unitPrice: 1 }
  expect(subtotalOf([half])).toBe(1)
  expect(subtotalOf([half, half])).toBe(1)
})

it('works tax out from a rate in percent', () => {
  expect(taxOn(850, 82_500)).toBe(70)
  expect(taxOn(1000, 200_000)).toBe(200)
})
