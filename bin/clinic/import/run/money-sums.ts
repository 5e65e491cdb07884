/** Sums of the money columns of a file, to compare with those of the system that it comes from. */

import { CURRENCIES, currencyDecimals } from '../../../../shared/domain/money/currencies.ts'

const MONEY = ['price', 'amount', 'subtotal', 'discount_amount', 'tax_amount', 'total_amount', 'unit_price']

const DECIMALS = 4

type Fields = Readonly<Record<string, unknown>>

export type MoneySum = {
  readonly field: string
  /** The currency that the rows say. */
  readonly currency: string | null
  readonly records: string
  readonly rejected: string
}

type Sum = { readonly field: string; readonly currency: string | null; records: bigint; rejected: bigint }

export class MoneySums {
  readonly #sums = new Map<string, Sum>()

  add(fields: Fields, outcome: 'records' | 'rejected', prefix = ''): void {
    const currency = typeof fields.currency === 'string' ? fields.currency : null
    for (const name of MONEY) this.#add({ field: `${prefix}${name}`, currency }, fields[name], outcome)
    const items: readonly Fields[] = Array.isArray(fields.line_items) ? fields.line_items : []
    for (const item of items) this.add({ ...item, currency }, outcome, 'line_items.')
  }

  #add(key: Pick<Sum, 'field' | 'currency'>, value: unknown, outcome: 'records' | 'rejected'): void {
    const [, sign = '', whole = '', fraction = ''] =
      /^(-?)(\d+)(?:\.(\d{1,4}))?$/.exec(String(value).trim()) ?? []
    if (whole === '') return
    const name = `${key.field} ${key.currency}`
    const sum = this.#sums.get(name) ?? { ...key, records: 0n, rejected: 0n }
    sum[outcome] += BigInt(`${sign}${whole}${fraction.padEnd(DECIMALS, '0')}`)
    this.#sums.set(name, sum)
  }

  /** @param clinicCurrency of rows that say none */
  sums(clinicCurrency: string): readonly MoneySum[] {
    return [...this.#sums.values()].map(({ records, rejected, ...key }) => {
      const currency = key.currency ?? clinicCurrency
      const decimals = CURRENCIES.includes(currency) ? currencyDecimals(currency) : 2
      return { ...key, records: decimal(records, decimals), rejected: decimal(rejected, decimals) }
    })
  }
}

/** A plain decimal with the decimals of its currency, or more if it has more. */
function decimal(value: bigint, decimals: number): string {
  const digits = String(value < 0n ? -value : value).padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '').padEnd(decimals, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}${fraction && '.'}${fraction}`
}
