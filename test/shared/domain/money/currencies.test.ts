import currencyCodes from 'currency-codes'
import { describe, expect, it } from 'vitest'
import { CURRENCIES, currencyDecimals } from '../../../../shared/domain/money/currencies.ts'

/** Codes of the list that no clinic charges in: metals, bond units, funds of institutions, tests, "no currency". */
const NOT_MONEY = 'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' ')

/** Withdrawn, but in older invoices. */
const WITHDRAWN = ['HRK', 'SLL', 'VEF', 'ZWL']

/** Newer than the list. */
const NEW = ['XCG']

const listed = new Map(currencyCodes.data.map(({ code, digits }) => [code, digits]))

describe('the table of currencies', () => {
  it('has the currencies of ISO 4217, with the differences that are named here', () => {
    const expected = [...listed.keys()].filter((code) => !NOT_MONEY.includes(code))
    expect([...CURRENCIES].sort()).toEqual([...expected, ...WITHDRAWN, ...NEW].sort())
  })

  it('lists the codes in alphabetical order', () => {
    expect(CURRENCIES).toEqual([...CURRENCIES].sort())
  })

  it('has the decimals of ISO 4217', () => {
    const common = CURRENCIES.filter((code) => listed.has(code))
    expect(common.map((code) => [code, currencyDecimals(code)])).toEqual(
      common.map((code) => [code, listed.get(code)]),
    )
  })

  it.each([
    ['EUR', 2],
    ['JPY', 0],
    ['KWD', 3],
    ['TRY', 2],
    ['NPR', 2],
    ['CLF', 4],
    // Node's own data has no decimals for these in some releases.
    ['HUF', 2],
    ['COP', 2],
    ['IDR', 2],
    ['PKR', 2],
  ])('%s has %i decimals, independent of Node', (currency, decimals) => {
    expect(currencyDecimals(currency)).toBe(decimals)
  })

  it.each(['', 'XXX', 'eur', 'ABC', 'DEM', 'TRL', 'ROL', 'BYR'])(
    'throws for %j, which is not a currency',
    (code) => {
      expect(() => currencyDecimals(code)).toThrow(RangeError)
    },
  )
})
