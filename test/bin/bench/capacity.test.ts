import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  clinicsCost,
  clinicsOfDeployment,
  deliveryCost,
  rejectedShare,
  requestCost,
  unitCost,
  withCostTables,
} from '../../../bin/bench/capacity.ts'

const CAPACITY = 'docs/operate/capacity.md'

it('docs/operate/capacity.md has the current tables: if not, run `npm run bench -- --cost`', () => {
  const text = readFileSync(CAPACITY, 'utf8')
  expect(text).toBe(withCostTables(text))
})

it.each([CAPACITY, 'docs/decisions/limits.md'])('%s names how many clinics a deployment is for', (page) => {
  const named = readFileSync(page, 'utf8').matchAll(/some \**([\d,]+) clinics/g)
  expect(new Set([...named].map(([, figure]) => figure))).toEqual(
    new Set([clinicsOfDeployment().toLocaleString('en')]),
  )
})

it('rejects as many requests as Erlang’s formula says: 16 % of 200 a second that take 0.1 s on 20 functions', () => {
  expect(rejectedShare(20, 20)).toBeCloseTo(0.159, 3)
  expect(rejectedShare(1, 1)).toBe(0.5)
  expect(rejectedShare(100, 20)).toBeLessThan(1e-6)
})

it('costs less with provisioned units', () => {
  const { onDemand, provisioned } = unitCost(100)
  expect(provisioned / onDemand).toBeCloseTo(0.41, 2)
})

it('costs less for each clinic the more there are, and never less than its requests', () => {
  const each = [1, 100, 10_000].map((count) => clinicsCost(count) / count)
  expect(each).toEqual([...each].sort((a, b) => b - a))
  expect(each[2]).toBeGreaterThan(deliveryCost(0.1 * 30 * 24 * 3600))
  expect(requestCost(2e6)).toBeCloseTo(2 * requestCost(1e6))
})
