import { expect, it } from 'vitest'
import { MoneySums } from '../../../../../bin/clinic/import/run/money-sums.ts'

it("has the decimals of the rows' currency, or else of the clinic's, and more only if a row has more", () => {
  const money = new MoneySums()
  money.add({ amount: '15000' }, 'records')
  money.add({ amount: '0.5' }, 'rejected')
  money.add({ amount: 1.5, currency: 'KWD' }, 'records')
  money.add({ amount: '2', currency: 'none' }, 'records')
  expect(money.sums('JPY')).toEqual([
    { field: 'amount', currency: null, records: '15000', rejected: '0.5' },
    { field: 'amount', currency: 'KWD', records: '1.500', rejected: '0.000' },
    { field: 'amount', currency: 'none', records: '2.00', rejected: '0.00' },
  ])
})
