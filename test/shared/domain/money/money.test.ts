import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkDecimal,
  divideHalfUp,
  parseDecimal,
  renderDecimal,
  renderMoney,
} from '../../../../shared/domain/money/money.ts'

describe('parseDecimal', () => {
  it.each([
    ['12.5', 2, 1250],
    [12.5, 2, 1250],
    ['12.5000', 2, 1250],
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
    ['999999999999999', 0, 999_999_999_999_999],
    ['-999999999999999', 0, -999_999_999_999_999],
    ['1000000000000000', 0, null],
    ['9999999999999.99', 2, 999_999_999_999_999],
    ['-9999999999999.99', 2, -999_999_999_999_999],
    ['10000000000000', 2, null],
    ['-10000000000000', 2, null],
    ['99999999999.9999', 4, 999_999_999_999_999],
    ['100000000000', 4, null],
    ['0', 2, 0],
    ['-0', 2, 0],
    ['-0.00', 2, 0],
    ['007', 0, 7],
    ['1.0', 0, 1],
    ['1.1', 0, null],
    ['1.2.3', 2, null],
    ['--1', 2, null],
    ['1 ', 2, null],
    ['1\n', 2, null],
    ['\u0661', 2, null],
  ])('parses %j with %i decimals as %j', (value, decimals, units) => {
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
  ['9999999999999.99', 2, { units: 999_999_999_999_999 }],
  ['10000000000000', 2, { issue: 'is too large' }],
  ['-10000000000000', 2, { issue: 'must be a number with at most 2 decimals' }],
  ['1000000000000000', 0, { issue: 'is too large' }],
  [1e30, 2, { issue: 'is too large' }],
  ['', 2, { issue: 'must be a number with at most 2 decimals' }],
  ['-1', 2, { issue: 'must not be negative' }],
])('checkDecimal(%j, %i) is %j', (value, decimals, expected) => {
  expect(checkDecimal(value, decimals)).toEqual(expected)
})

it.each([
  [0, 2, 0],
  [5, 2, 0.05],
  [-5, 2, -0.05],
  [50, 2, 0.5],
  [100, 2, 1],
  [-125_050, 2, -1250.5],
  [7, 0, 7],
  [-7, 0, -7],
  [1, 4, 0.0001],
  [999_999_999_999_999, 2, 9_999_999_999_999.99],
])('renders %i units with %i decimals as %d', (units, decimals, shown) => {
  expect(renderDecimal(units, decimals)).toBe(shown)
})

it.each([
  ['EUR', 12.34],
  ['JPY', 1234],
  ['KWD', 1.234],
])('renders 1234 minor units of %s as %d', (currency, shown) => {
  expect(renderMoney(1234, currency)).toBe(shown)
})

it.each([
  [5n, 2n, 3],
  [-5n, 2n, -3],
  [1n, 3n, 0],
  [-1n, 3n, 0],
  [2n, 3n, 1],
  [0n, 3n, 0],
  [49n, 100n, 0],
  [50n, 100n, 1],
  [-49n, 100n, 0],
  [-50n, 100n, -1],
  [-51n, 100n, -1],
  [150n, 100n, 2],
])('rounds %s / %s to %i, half away from zero', (numerator, denominator, rounded) => {
  expect(divideHalfUp(numerator, denominator)).toBe(rounded)
})
