import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addsUp,
  applyPayments,
  type Invoice,
  lineAmount,
  percentageOf,
  statedPaidAt,
  subtotalOf,
  sumOfLines,
  withDoctor,
} from '../../../../shared/domain/money/invoice.ts'
import { type Payment, refundable } from '../../../../shared/domain/money/payment.ts'

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

const UNPAID = { status: 'sent', paid: 0 } as const
const PAID = { status: 'paid', paid: 100 } as const
const REFUNDED = { status: 'refunded', paid: 0 } as const
const PARTLY = { status: 'partially_paid', paidAt: null } as const
const FEBRUARY = '2026-02-01T00:00:00.000Z'
const MARCH = '2026-03-01T00:00:00.000Z'
const [PENDING, FAILED, REFUND] = [{ status: 'pending' }, { status: 'failed' }, { type: 'refund' }] as const
/** An invoice that the clinic itself has given this status. */
const marked = (clinicStatus: Invoice['clinicStatus']) =>
  invoice({ clinicStatus, paidAt: clinicStatus === 'paid' ? MARCH : null })

it('adds up payments and refunds whose sums apart are no safe integers', () => {
  const most = 999_999_999_999_999
  const many = (facts: Partial<Payment> = {}) => Array.from({ length: 20 }, () => payment(most, facts))
  const payments = [payment(1), ...many(), payment(2), ...many({ type: 'refund' })]
  expect(applyPayments(invoice(), payments).paid).toBe(3)
  expect(refundable(payments)).toBe(3)
  const lines = [most, -most].flatMap((tax) => Array.from({ length: 20 }, () => ({ tax, discount: 0 })))
  expect(sumOfLines([{ tax: 7, discount: 0 }, ...lines], 'tax')).toBe(7)
})

it.each<[string, Invoice, Payment[], Partial<Invoice>]>([
  ['no payments', invoice(), [], UNPAID],
  ['a partial payment', invoice(), [payment(40)], { ...PARTLY, paid: 40 }],
  [
    'the total in two payments',
    invoice(),
    [payment(40), payment(60, { createdAt: FEBRUARY })],
    { ...PAID, paidAt: FEBRUARY },
  ],
  ['an overpayment', invoice(), [payment(140)], { status: 'paid', paid: 140 }],
  ['pending and failed payments', invoice(), [payment(40, PENDING), payment(60, FAILED)], UNPAID],
  ['a partial refund', invoice(), [payment(100), payment(30, REFUND)], { ...PARTLY, paid: 70 }],
  ['a full refund', invoice(), [payment(100), payment(100, REFUND)], { ...REFUNDED, paidAt: null }],
  ['a partial payment when overdue', marked('overdue'), [payment(40)], { status: 'partially_paid' }],
  ['no payments when overdue', marked('overdue'), [], { status: 'overdue' }],
  ['a payment when cancelled', marked('cancelled'), [payment(100)], { status: 'cancelled', paid: 100 }],
  ['no payments when marked as paid', marked('paid'), [], { status: 'paid', paidAt: MARCH }],
  ['one unit less than the total', invoice(), [payment(99)], PARTLY],
  [
    'a payment of a draft',
    invoice({ clinicStatus: 'draft' }),
    [payment(100)],
    { status: 'draft', paid: 100, paidAt: null },
  ],
  ['a partial payment when marked as paid', marked('paid'), [payment(40)], PARTLY],
  [
    'a voided payment when paid',
    { ...marked('paid'), status: 'paid' },
    [payment(100, FAILED)],
    { ...UNPAID, paidAt: null },
  ],
  ['a pending payment when marked as partly paid', marked('partially_paid'), [payment(100, PENDING)], UNPAID],
  ['a failed refund when refunded', marked('refunded'), [payment(100, { ...REFUND, ...FAILED })], UNPAID],
  ['a refunded payment', marked('refunded'), [payment(100, { status: 'refunded' })], REFUNDED],
  [
    'a voided payment when nothing is to be paid',
    { ...marked('paid'), total: 0 },
    [payment(100, FAILED)],
    { status: 'paid', paid: 0, paidAt: MARCH },
  ],
  ['a failed payment when overdue', marked('overdue'), [payment(100, FAILED)], { status: 'overdue' }],
  ['no payments, but a time', invoice({ paidAt: MARCH }), [], { status: 'sent', paidAt: null }],
  ['a payment of zero', invoice(), [payment(0)], { ...UNPAID, paidAt: null }],
  [
    'a refund over the payments',
    invoice(),
    [payment(40), payment(50, REFUND)],
    { status: 'refunded', paid: -10, paidAt: null },
  ],
  ['a pending refund', invoice(), [payment(100), payment(100, { ...REFUND, ...PENDING })], PAID],
])('applyPayments sets paid amount, status and payment time for %s', (_, before, payments, after) => {
  expect(applyPayments(before, payments)).toMatchObject(after)
  expect(applyPayments(applyPayments(before, payments), payments)).toEqual(applyPayments(before, payments))
  expect(applyPayments(before, [...payments].reverse())).toEqual(applyPayments(before, payments))
})

describe('the payment time', () => {
  const at = (month: number) => `2026-0${month}-01T00:00:00.000Z`
  const paidAtOf = (...payments: Payment[]) => applyPayments(invoice(), payments).paidAt

  it('is not the time of a later refund', () => {
    const refund = payment(30, { type: 'refund', createdAt: at(4) })
    expect(paidAtOf(payment(100, { createdAt: at(1) }), refund, payment(30, { createdAt: at(2) }))).toBe(
      at(2),
    )
  })

  it.each(['pending', 'failed'] as const)('is not the time of a later %s payment', (status) => {
    const later = payment(100, { status, createdAt: at(4) })
    expect(paidAtOf(payment(100, { createdAt: at(1) }), later)).toBe(at(1))
  })

  it('is the time of a payment after the one that reached the total', () => {
    expect(paidAtOf(payment(100, { createdAt: at(1) }), payment(1, { createdAt: at(2) }))).toBe(at(2))
  })
})

it.each([
  [10_000, 250, 250],
  [15_000, 33, 50],
  [15_000, 31, 47],
  [3_333, 100, 33],
  [25_000, -33, -83],
])(
  'rounds %i ten-thousandths of %i minor units to %i, half away from zero',
  (quantity, unitPrice, amount) => {
    expect(lineAmount({ quantity, unitPrice })).toBe(amount)
  },
)

describe('statedPaidAt', () => {
  const at = '2026-03-01T00:00:00.000Z'
  it.each<[string, Partial<Invoice>, string | null]>([
    ['what the clinic has stated', { clinicPaidAt: at, paid: 40 }, at],
    ['the time of an invoice that is paid without payments', { clinicPaidAt: null, paidAt: at }, at],
    ['nothing if it is the time of a payment', { clinicPaidAt: null, paidAt: at, paid: 100 }, null],
  ])('is %s', (_, facts, expected) => {
    expect(statedPaidAt(invoice(facts))).toBe(expected)
  })

  it('is all that a copy of the invoice needs to be shown the same with the same payments', () => {
    const instants = fc.integer({ min: 1, max: 9 }).map((day) => `2026-01-0${day}T00:00:00.000Z`)
    const payments = fc.array(
      fc.record({
        amount: fc.integer({ min: 1, max: 100 }),
        type: fc.constantFrom('payment', 'refund'),
        status: fc.constantFrom('completed', 'failed'),
        createdAt: instants,
      }) as fc.Arbitrary<Payment>,
      { maxLength: 3 },
    )
    const first = fc.record({
      clinicStatus: fc.constantFrom('sent', 'paid', 'cancelled'),
      total: fc.constantFrom(0, 60),
      clinicPaidAt: fc.option(instants),
    }) as fc.Arbitrary<Partial<Invoice>>
    fc.assert(
      fc.property(first, fc.array(payments, { minLength: 1, maxLength: 3 }), (facts, states) => {
        const original = states.reduce(applyPayments, invoice({ ...facts, paidAt: null }))
        const { clinicStatus, total } = original
        const clinicPaidAt = statedPaidAt(original)
        const copy = applyPayments(invoice({ clinicStatus, total, clinicPaidAt }), states.at(-1) ?? [])
        const { paid, status, paidAt } = original
        expect(copy).toMatchObject({ paid, status, paidAt })
        expect(statedPaidAt(copy)).toBe(clinicPaidAt)
      }),
    )
  })
})

it('rounds a subtotal once, half up', () => {
  const half = { quantity: 5_000, unitPrice: 1 }
  expect(subtotalOf([half])).toBe(1)
  expect(subtotalOf([half, half])).toBe(1)
  expect(subtotalOf([half, half, half])).toBe(2)
  expect(subtotalOf([])).toBe(0)
})

it("sets the doctor of lines with the invoice's former doctor, unless they were given that doctor", () => {
  const [former, other, next] = ['A', 'B', 'C'].map((id) => ({ id, fullName: `Dr. ${id}` }))
  const lineItems = [
    { doctor: null },
    { doctor: former },
    { doctor: former, hasOwnDoctor: true },
    { doctor: other },
  ]
  const before = { ...invoice(), doctor: former, lineItems } as unknown as Invoice
  const after = withDoctor(before, next ?? null)
  expect(after.lineItems.map(({ doctor }) => doctor)).toEqual([next, next, former, other])
})

describe('addsUp', () => {
  const line = {
    id: 'l',
    description: 'Scaling',
    quantity: 10_000,
    unitPrice: 99,
    doctor: null,
    treatment: null,
  }
  const item = { ...line, discount: 0, taxRate: 190_000, tax: 19, total: 118 }
  const billed = (facts: Partial<Invoice>) => {
    const all = { subtotal: 297, discount: 0, tax: 57, lineItems: [item, item, item], ...facts }
    return { total: all.subtotal - all.discount + all.tax, ...all } as Invoice
  }

  it.each<[boolean, string, Partial<Invoice>]>([
    [true, 'tax of the sum of its lines', {}],
    [true, 'tax that is rounded once', { tax: 56 }],
    [false, 'tax that differs by more than rounding', { tax: 55 }],
    [false, 'tax of one line that differs', { lineItems: [item], subtotal: 99, tax: 18 }],
    [false, 'a total that differs', { tax: 56, total: 354 }],
    [true, 'a discount of the whole invoice', { discount: 100 }],
  ])('returns %s for %s', (expected, _, facts) => {
    expect(addsUp(billed(facts))).toBe(expected)
  })

  it('accepts a discount that is rounded once, and none that differs by more', () => {
    const lineItems = [item, item].map((one) => ({ ...one, discount: 5, total: 113 }))
    const amounts = { lineItems, subtotal: 198, tax: 38 }
    expect([9, 10, 11].map((discount) => addsUp(billed({ ...amounts, discount })))).toEqual([
      true,
      true,
      true,
    ])
    expect([8, 12].map((discount) => addsUp(billed({ ...amounts, discount })))).toEqual([false, false])
  })
})

it('calculates tax from a rate in ten-thousandths of a percent, rounded half up', () => {
  expect(percentageOf(850, 82_500)).toBe(70)
  expect(percentageOf(1000, 200_000)).toBe(200)
  expect(percentageOf(1, 500_000)).toBe(1)
  expect(percentageOf(1, 499_999)).toBe(0)
  expect(percentageOf(999_999_999_999_999, 1_000_000)).toBe(999_999_999_999_999)
})
