import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type GivenAmounts, invoiceAmounts } from '../../../../shared/domain/money/invoice-amounts.ts'

const appointment = {
  id: 'l1',
  description: 'Consultation',
  quantity: 10_000,
  unitPrice: 10_000,
  discount: 500,
  taxRate: 200_000,
  tax: 1900,
  total: 11_400,
  doctor: null,
  treatment: null,
}
const plain = { currency: 'EUR', subtotal: 10_000, discount: 500, tax: 2000, lineItems: [] }
const itemized = { ...plain, tax: 1900, lineItems: [appointment] }

it('computes the discount of a line item from its rate', () => {
  const item = { description: 'Crown', quantity: 2, unitPrice: '650.25', discountRate: 5, total: '1235.47' }
  const amounts = { subtotal: 130_050, discount: 6503, total: 123_547 }
  expect(invoiceAmounts({ lineItems: [item] }, 'EUR', null)).toMatchObject(amounts)
})

it('computes exact amounts from quantities, discounts and tax rates', () => {
  // 1.5 x 33.33 = 49.995 -> 50.00, tax 10.00; 10.00 - 1.50 = 8.50, tax 0.70125 -> 0.70
  const lineItems = [
    { description: 'Filling', quantity: '1.5', unitPrice: '33.33', taxRate: 20 },
    { description: 'Cleaning', quantity: 1, unitPrice: 10, discount: '1.50', taxRate: '8.25' },
  ]
  expect(invoiceAmounts({ lineItems }, 'EUR', null)).toMatchObject({
    ...{ subtotal: 6000, discount: 150, tax: 1070, total: 6920 },
    lineItems: [{ quantity: 15_000, total: 6000 }, { total: 920 }],
  })
})

it.each([
  // 1.5 x 333 = 499.5, 5 % of 500 = 25, 10 % of 475 = 47.5; twice 499.5 are 999.
  ['JPY', 333, { total: 523, discount: 25, tax: 48 }, { subtotal: 999, discount: 50, tax: 96, total: 1045 }],
  // 1.5 x 3.33 = 4.995, 5 % of 5.00 = 0.25, 10 % of 4.75 = 0.475.
  ['EUR', 3.33, { total: 523, discount: 25, tax: 48 }, { subtotal: 999, discount: 50, tax: 96, total: 1045 }],
  // 1.5 x 12.345 = 18.5175, 5 % of 18.518 = 0.9259, 10 % of 17.592 = 1.7592.
  [
    'KWD',
    12.345,
    { total: 19_351, discount: 926, tax: 1759 },
    { subtotal: 37_035, discount: 1852, tax: 3518, total: 38_701 },
  ],
])('rounds line, discount, tax and subtotal in this order in %s', (currency, unitPrice, line, amounts) => {
  const item = { description: 'Filling', quantity: 1.5, unitPrice, discountRate: 5, taxRate: 10 }
  expect(invoiceAmounts({ lineItems: [item, item] }, currency, null)).toMatchObject({
    ...amounts,
    lineItems: [line, line],
  })
})

const scaler = { description: 'Scaling', quantity: 1, unitPrice: '0.99', taxRate: 19 }

describe('tax and discount that are rounded once for the invoice', () => {
  it('are kept next to lines that are rounded each', () => {
    const row = { lineItems: [scaler, scaler, scaler], tax: '0.56', total: '3.53' }
    const each = Array(3).fill({ tax: 19 })
    expect(invoiceAmounts(row, 'EUR', null)).toMatchObject({
      subtotal: 297,
      tax: 56,
      total: 353,
      lineItems: each,
    })
    const lineItems = Array(4).fill({ ...scaler, taxRate: 0, unitPrice: '1.10', discountRate: 5 })
    expect(invoiceAmounts({ lineItems, discount: '0.22' }, 'EUR', null)).toMatchObject({
      discount: 22,
      total: 418,
      lineItems: Array(4).fill({ discount: 6 }),
    })
  })

  it.each<[string, GivenAmounts]>([
    ['tax_amount is 0.54, but the line items add up to 0.57', { tax: '0.54', total: '3.51' }],
    ['tax_amount is 0.59, but the line items add up to 0.57', { tax: '0.59' }],
    [
      'total_amount is 3.54, but subtotal - discount_amount + tax_amount is 3.53',
      { tax: '0.56', total: '3.54' },
    ],
  ])('are rejected if they differ by more: %s', (reason, cells) => {
    const row = { lineItems: [scaler, scaler, scaler], ...cells }
    expect(() => invoiceAmounts(row, 'EUR', null)).toThrow(expect.objectContaining({ message: reason }))
  })

  it('accepts the rounding of the sum of any line items', () => {
    const line = fc.record({
      quantity: fc.integer({ min: 1, max: 20 }),
      cents: fc.integer({ min: 1, max: 99_999 }),
      taxRate: fc.constantFrom(2.6, 5.5, 7, 8.1, 19, 20, 50),
    })
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 20 }), (items) => {
        const lineItems = items.map(({ cents, ...item }) => ({
          ...item,
          description: 'Line',
          unitPrice: (cents / 100).toFixed(2),
        }))
        // In thousandths of a cent: the rates have one decimal.
        const exact = items.reduce((sum, one) => sum + one.quantity * one.cents * one.taxRate * 10, 0)
        const tax = Math.floor((Math.round(exact) + 500) / 1000)
        expect(invoiceAmounts({ lineItems, tax: (tax / 100).toFixed(2) }, 'EUR', null).tax).toBe(tax)
      }),
    )
  })
})

it.each<[string, GivenAmounts]>([
  [
    'line_items.0.unit_price must be a number with at most 2 decimals in EUR',
    { lineItems: [{ ...scaler, unitPrice: 'free' }], subtotal: 10, tax: 1, total: 11 },
  ],
  [
    'line_items.0.total_amount is not quantity x unit_price - discount_amount + tax_amount',
    { lineItems: [{ ...scaler, total: 5 }], subtotal: 5, total: 5 },
  ],
  ['tax_amount must not be negative', { subtotal: 10, tax: -1, total: 9 }],
  ['subtotal is required without line_items', { tax: 1, total: 11 }],
  ['subtotal is 10, but the line items add up to 0.99', { lineItems: [scaler], subtotal: 10, total: 1.18 }],
])('reports nothing that follows from another issue: %s', (reason, row) => {
  expect(() => invoiceAmounts(row, 'EUR', null)).toThrow(expect.objectContaining({ message: reason }))
})

const read = (before: typeof plain | typeof itemized, row: GivenAmounts, currency = 'EUR') =>
  invoiceAmounts(row, currency, before)

describe('a stored invoice', () => {
  it('keeps its amounts and line items if the row has none', () => {
    const { currency: _, ...kept } = itemized
    expect(read(itemized, {})).toEqual({ ...kept, total: 11_400 })
    expect(read(plain, {})).toMatchObject({ subtotal: 10_000, total: 11_500 })
  })

  it('keeps its line items if the row has the amounts', () => {
    const amounts = { subtotal: '100', tax: 19, discount: 5, total: '114.00' }
    expect(read(itemized, amounts).lineItems).toEqual([appointment])
  })

  it('keeps tax and discount if the row has the subtotal', () => {
    expect(read(plain, { subtotal: 100 })).toMatchObject({ tax: 2000, discount: 500, total: 11_500 })
  })

  it('has what its new line items add up to, if it had what the former ones did', () => {
    const lineItems = [{ description: 'Consultation', unitPrice: 50, taxRate: 10 }]
    const amounts = { subtotal: 5000, discount: 0, tax: 500, total: 5500 }
    expect(read(itemized, { lineItems })).toMatchObject({ ...amounts, lineItems: [{ unitPrice: 5000 }] })
  })

  it('keeps amounts that its line items did not have', () => {
    const lineItems = [{ description: 'Consultation', unitPrice: 100 }]
    expect(read(plain, { lineItems })).toMatchObject({ tax: 2000, discount: 500, total: 11_500 })
  })

  it('loses what an empty cell clears', () => {
    expect(read(plain, { tax: null })).toMatchObject({ tax: 0, discount: 500, total: 9500 })
    expect(read(itemized, { lineItems: null })).toMatchObject({ subtotal: 10_000, tax: 1900, lineItems: [] })
    expect(() => read(plain, { subtotal: null })).toThrow('subtotal is required without line_items')
  })

  it.each<[typeof plain | typeof itemized, GivenAmounts, string, string]>([
    [
      itemized,
      { subtotal: 90, discount: 5, tax: 19 },
      'EUR',
      'subtotal is 90, but the line items add up to 100; without a column, the record keeps its line_items: add what changes',
    ],
    [
      plain,
      { total: 99 },
      'EUR',
      'total_amount is 99, but subtotal - discount_amount + tax_amount is 115; without a column, the record keeps its subtotal, discount_amount, tax_amount: add what changes',
    ],
    [plain, { subtotal: 200 }, 'EUR', 'subtotal changes, so the row needs discount_amount, tax_amount too'],
    [
      plain,
      { lineItems: [{ description: 'Consultation', unitPrice: 50 }], discount: 1 },
      'EUR',
      'subtotal changes, so the row needs tax_amount too',
    ],
    [plain, { subtotal: 100 }, 'USD', 'currency changes, so the row needs discount_amount, tax_amount too'],
    [
      itemized,
      {},
      'JPY',
      'currency changes, so the row needs subtotal, discount_amount, tax_amount, line_items too',
    ],
  ])('is not mixed with amounts that do not go with it: %j, %j in %s', (before, row, currency, reason) => {
    expect(() => read(before, row, currency)).toThrow(expect.objectContaining({ message: reason }))
  })

  it('may change its currency if nothing of another one is kept', () => {
    const bare = { ...plain, discount: 0, tax: 0 }
    expect(read(bare, { subtotal: 1000 }, 'JPY')).toMatchObject({ subtotal: 1000, total: 1000 })
    expect(read(plain, { subtotal: 1000, discount: 0, tax: null }, 'JPY').total).toBe(1000)
  })
})
