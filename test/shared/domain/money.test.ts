import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { currencyDecimals, divideHalfUp, parseDecimal, renderDecimal } from '../../../shared/domain/money.ts'

it.each([
  ['EUR', 2],
  ['JPY', 0],
  ['KWD', 3],
  ['TRY', 2],
  ['NPR', 2],
])('%s has %i decimals', (currency, decimals) => {
  expect(currencyDecimals(currency)).toBe(decimals)
})

describe('parseDecimal', () => {
  it.each([
    ['12.5', 2, 1250],
    [12.5, 2, 1250],
    ['12.50', 2, 1250],
    ['12.500', 2, 1250],
    ['-0.01', 2, -1],
    ['0.005', 3, 5],
    ['7', 0, 7],
    ['7.', 0, 7],
    [0.1 + 0.2, 2, null],
    ['12.345', 2, null],
    ['1e3', 2, null],
    ['1,5', 2, null],
    ['', 2, null],
    [' 1', 2, null],
    ['+1', 2, null],
    ['.5', 2, null],
    [Number.NaN, 2, null],
    [Number.POSITIVE_INFINITY, 2, null],
    ['9999999999999999', 0, null],
  ])('%j with %i decimals is %j', (value, decimals, units) => {
    expect(parseDecimal(value, decimals)).toBe(units)
  })

  it('is the inverse of renderDecimal, through JSON', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -999_999_999_999, max: 999_999_999_999 }),
        fc.constantFrom(0, 2, 3, 4),
        (units, decimals) => {
          const shown = JSON.parse(JSON.stringify(renderDecimal(units, decimals)))
          expect(parseDecimal(shown, decimals)).toBe(units)
        },
      ),
    )
  })
})

it.each([
  [5n, 2n, 3],
  [-5n, 2n, -3],
  [1n, 3n, 0],
  [-1n, 3n, 0],
  [2n, 3n, 1],
])('%s / %s is %i, half away from zero', (numerator, denominator, rounded) => {
  expect(divideHalfUp(numerator, denominator)).toBe(rounded)
})
