import { lineAmount, subtotalOf, taxOn } from '../../shared/domain/invoice.ts'
import { RATIO_SCALE, renderMoney } from '../../shared/domain/money.ts'
import type { PriceList, Service } from './price-lists.ts'
import type { Random } from './random.ts'

/** A line item of the importer's rows. */
export type LineItemRow = {
  readonly description: string
  readonly quantity: number
  readonly unit_price: number
  readonly discount_amount: number
  readonly tax_rate: number
  readonly tax_amount: number
  readonly total_amount: number
}

const SHARE_DISCOUNTED = 0.1

/** The line items of an invoice and their sums in units of the currency, and `total` in minor units. */
export function lineItemsOf(random: Random, { visits, extras }: PriceList[string], currency: string) {
  const more = extras.filter(() => random.chance(0.18)).slice(0, 3)
  const lines = [random.pick(visits), ...more].map((service) => lineItemOf(random, service))
  const sum = (of: 'discount' | 'tax') => lines.reduce((total, line) => total + line[of], 0)
  const subtotal = subtotalOf(lines)
  const total = subtotal - sum('discount') + sum('tax')
  const money = (minor: number) => renderMoney(minor, currency)
  const amounts = {
    subtotal: money(subtotal),
    discount_amount: money(sum('discount')),
    tax_amount: money(sum('tax')),
    total_amount: money(total),
    line_items: lines.map(
      (line): LineItemRow => ({
        description: line.name,
        quantity: line.quantity / RATIO_SCALE,
        unit_price: money(line.unitPrice),
        discount_amount: money(line.discount),
        tax_rate: line.taxRate / RATIO_SCALE,
        tax_amount: money(line.tax),
        total_amount: money(line.amount - line.discount + line.tax),
      }),
    ),
  }
  return { amounts, total }
}

function lineItemOf(random: Random, { name, price: unitPrice, tax: percent, quantities = [1] }: Service) {
  const quantity = random.pick(quantities) * RATIO_SCALE
  const amount = lineAmount({ quantity, unitPrice })
  const discount = random.chance(SHARE_DISCOUNTED) ? Math.round(amount * random.pick([0.05, 0.1, 0.25])) : 0
  const taxRate = percent * RATIO_SCALE
  return { name, quantity, unitPrice, amount, discount, taxRate, tax: taxOn(amount - discount, taxRate) }
}
