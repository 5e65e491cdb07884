/** A record as text: amounts with the decimals of their currency, and the parts of lists under the names of their fields. */
import { describe, expect, it } from 'vitest'
import { describeRecord, withAmountTexts } from '../../../../bin/clinic/tool/record-text.ts'
import { Invoice } from '../../../../shared/api/invoices.ts'
import { Payment } from '../../../../shared/api/payments.ts'

const LINE = { description: 'Consultation', quantity: 1, unit_price: 60, tax_rate: 0, total_amount: 60 }

describe('a record as text', () => {
  it('has amounts with the decimals of their currency, and other numbers as they are', () => {
    const textOf = (currency: string) => describeRecord({ currency, paid_amount: 50, line_items: [LINE] })
    expect(textOf('EUR')).toEqual([
      'currency     EUR',
      'paid_amount  50.00',
      'line_items:',
      '  description   quantity  unit_price  tax_rate  total_amount',
      '  Consultation  1         60.00       0         60.00',
    ])
    expect(textOf('JPY')).toContain('paid_amount  50')
    expect(textOf('KWD')).toContain('paid_amount  50.000')
  })

  it('has hours as imports have them, and the fields of a group by their names', () => {
    const day = [{ start_time: '09:00', end_time: '12:00' }]
    const hours = { mon: day, tue: day, wed: [] }
    const exceptions = { '2026-12-24': day, '2026-12-27': [] }
    expect(describeRecord({ hours, exceptions, health: { is_slow: true, last_failure: null } })).toEqual([
      'hours                mon-tue 09:00-12:00',
      'exceptions           2026-12-24 09:00-12:00; 2026-12-27 off',
      'health.is_slow       true',
      'health.last_failure  -',
    ])
  })

  it('has amounts of a payment in the currency of the payment, and the largest amount exactly', () => {
    const payments = [{ currency: 'JPY', amount: 50 }]
    expect(withAmountTexts({ currency: 'EUR', subtotal: 9_999_999_999_999.99, payments })).toEqual({
      currency: 'EUR',
      subtotal: '9999999999999.99',
      payments: [{ currency: 'JPY', amount: '50' }],
    })
  })

  it('has every amount of an invoice, its line items and a payment as text', () => {
    const shapes = [
      Invoice.unwrap().shape,
      Invoice.unwrap().shape.line_items.element.unwrap().shape,
      Payment.unwrap().shape,
    ]
    const numbers = shapes
      .flatMap((shape) => Object.entries(shape))
      .flatMap(([name, field]) => (field.type === 'number' ? [name] : []))
    const texts = withAmountTexts({
      currency: 'EUR',
      ...Object.fromEntries(numbers.map((name) => [name, 1])),
    })
    const others = Object.entries(texts).filter(([, value]) => value === 1)
    expect(others.map(([name]) => name)).toEqual(['quantity', 'tax_rate'])
  })

  it('has the fields of parts that differ in columns of their own', () => {
    expect(describeRecord({ parts: [{ a: 1 }, { b: 2 }] })).toEqual(['parts:', '  a  b', '  1  -', '  -  2'])
  })
})
