import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AmountCells,
  invoiceAmounts,
} from '../../../../../bin/clinic/import/entities/invoice-amounts.ts'
import { lines } from '../calendar-fixtures.ts'

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
  const item = {
    description: 'Crown',
    quantity: 2,
    unit_price: '650.25',
    discount_rate: 5,
    total_amount: '1235.47',
  }
  expect(invoiceAmounts({ lineItems: [item] }, 'EUR', null)).toMatchObject({
    subtotal: 130_050,
    discount: 6503,
    total: 123_547,
  })
})

it('computes exact amounts from quantities, discounts and tax rates', () => {
  // 1.5 x 33.33 = 49.995 -> 50.00, tax 10.00; 10.00 - 1.50 = 8.50, tax 0.70125 -> 0.70
  expect(invoiceAmounts({ lineItems: lines }, 'EUR', null)).toMatchObject({
    ...{ subtotal: 6000, discount: 150, tax: 1070, total: 6920 },
    lineItems: [{ quantity: 15_000, total: 6000 }, { total: 920 }],
  })
})

const scaler = { description: 'Scaling', quantity: 1, unit_price: '0.99', tax_rate: 19 }

describe('tax and discount that are rounded once for the invoice', () => {
  it('are kept next to lines that are rounded each', () => {
    const row = { lineItems: [scaler, scaler, scaler], tax: '0.56', total: '3.53' }
    expect(invoiceAmounts(row, 'EUR', null)).toMatchObject({
      subtotal: 297,
      tax: 56,
      total: 353,
      lineItems: [{ tax: 19 }, { tax: 19 }, { tax: 19 }],
    })
    const lineItems = Array(4).fill({ ...scaler, tax_rate: 0, unit_price: '1.10', discount_rate: 5 })
    expect(invoiceAmounts({ lineItems, discount: '0.22' }, 'EUR', null)).toMatchObject({
      discount: 22,
      total: 418,
      lineItems: Array(4).fill({ discount: 6 }),
    })
  })

  it.each<[string, AmountCells]>([
    ['tax_amount is 0.54, but the line items add up to 0.57', { tax: '0.54', total: '3.51' }],
    ['tax_amount is 0.59, but the line items add up to 0.57', { tax: '0.59' }],
    [
      'total_amount is 3.54, but subtotal - discount_amount + tax_amount is 3.53',
      { tax: '0.56', total: '3.54' },
    ],
  ])('are rejected if they differ by more: %s', (reason, cells) => {
    const row = { lineItems: [scaler, scaler, scaler], ...cells }
    expect(() => invoiceAmounts(row, 'EUR', null)).toThrow(new Error(reason))
  })

  it('accepts the rounding of the sum of any line items', () => {
    const line = fc.record({
      quantity: fc.integer({ min: 1, max: 20 }),
      cents: fc.integer({ min: 1, max: 99_999 }),
      tax_rate: fc.constantFrom(2.6, 5.5, 7, 8.1, 19, 20, 50),
    })
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 20 }), (items) => {
        const lineItems = items.map(({ cents, ...item }) => ({
          ...item,
          description: 'Line',
          unit_price: (cents / 100).toFixed(2),
        }))
        // In thousandths of a cent: the rates have one decimal.
        const exact = items.reduce((sum, one) => sum + one.quantity * one.cents * one.tax_rate * 10, 0)
        const tax = Math.floor((Math.round(exact) + 500) / 1000)
        expect(invoiceAmounts({ lineItems, tax: (tax / 100).toFixed(2) }, 'EUR', null).tax).toBe(tax)
      }),
    )
  })
})

it.each<[string, AmountCells]>([
  [
    'line_items.0.unit_price must be a number with at most 2 decimals in EUR',
    { lineItems: [{ ...scaler, unit_price: 'free' }], subtotal: 10, tax: 1, total: 11 },
  ],
  [
    'line_items.0.total_amount is not quantity x unit_price - discount_amount + tax_amount',
    { lineItems: [{ ...scaler, total_amount: 5 }], subtotal: 5, total: 5 },
  ],
  ['tax_amount must not be negative', { subtotal: 10, tax: -1, total: 9 }],
  ['subtotal is required without line_items', { tax: 1, total: 11 }],
  ['subtotal is 10, but the line items add up to 0.99', { lineItems: [scaler], subtotal: 10, total: 1.18 }],
])('reports nothing that follows from another issue: %s', (reason, row) => {
  expect(() => invoiceAmounts(row, 'EUR', null)).toThrow(new Error(reason))
})

const read = (before: typeof plain | typeof itemized, row: AmountCells, currency = 'EUR') =>
  invoiceAmounts(row, currency, before)

describe('a stored invoice', () => {
  it('keeps its amounts and line items if the row has none', () => {
    expect(read(itemized, {})).toEqual({
      subtotal: 10_000,
      discount: 500,
      tax: 1900,
      total: 11_400,
      lineItems: [appointment],
    })
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
    const lineItems = [{ description: 'Consultation', unit_price: 50, tax_rate: 10 }]
    expect(read(itemized, { lineItems })).toMatchObject({
      subtotal: 5000,
      discount: 0,
      tax: 500,
      total: 5500,
      lineItems: [{ unitPrice: 5000 }],
    })
  })

  it('keeps amounts that its line items did not have', () => {
    const lineItems = [{ description: 'Consultation', unit_price: 100 }]
    expect(read(plain, { lineItems })).toMatchObject({ tax: 2000, discount: 500, total: 11_500 })
  })

  it('loses what an empty cell clears', () => {
    expect(read(plain, { tax: null })).toMatchObject({ tax: 0, discount: 500, total: 9500 })
    expect(read(itemized, { lineItems: null })).toMatchObject({ subtotal: 10_000, tax: 1900, lineItems: [] })
    expect(() => read(plain, { subtotal: null })).toThrow('subtotal is required without line_items')
  })

  it.each<[typeof plain | typeof itemized, AmountCells, string, string]>([
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
      { lineItems: [{ description: 'Consultation', unit_price: 50 }], discount: 1 },
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
    expect(() => read(before, row, currency)).toThrow(new Error(reason))
  })

  it('may change its currency if nothing of another one is kept', () => {
    const bare = { ...plain, discount: 0, tax: 0 }
    expect(read(bare, { subtotal: 1000 }, 'JPY')).toMatchObject({ subtotal: 1000, total: 1000 })
    expect(read(plain, { subtotal: 1000, discount: 0, tax: null }, 'JPY').total).toBe(1000)
  })
})
