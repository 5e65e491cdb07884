import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  clinicsCost,
  deliveryCost,
  fixedCost,
  requestCost,
  withCostTables,
} from '../../../bin/bench/capacity.ts'

const CAPACITY = 'docs/operate/capacity.md'

it('docs/operate/capacity.md has the current tables: if not, run `npm run bench -- --cost`', () => {
  const text = readFileSync(CAPACITY, 'utf8')
  expect(text).toBe(withCostTables(text))
  expect(text).toContain(`some ${Math.round(fixedCost())} USD a month`)
})

it('costs less for each clinic the more there are, and never less than its requests', () => {
  const each = [1, 100, 10_000].map((count) => clinicsCost(count) / count)
  expect(each).toEqual([...each].sort((a, b) => b - a))
  expect(each[2]).toBeGreaterThan(deliveryCost(0.1 * 30 * 24 * 3600))
  expect(requestCost(2e6)).toBeCloseTo(2 * requestCost(1e6))
})
