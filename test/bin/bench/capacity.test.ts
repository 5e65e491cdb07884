import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DELIVERY_UNITS } from '../../../bin/bench/bounds.ts'
import {
  clinicsCost,
  clinicsOfDeployment,
  DELIVERY,
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

it.each([CAPACITY, 'docs/decisions/limits.md', 'docs/decisions/2026-11-24-routing-between-deployments.md'])(
  '%s names how many clinics a deployment is for',
  (page) => {
    const named = readFileSync(page, 'utf8').matchAll(/some \**([\d,]+) clinics/g)
    expect(new Set([...named].map(([, figure]) => figure))).toEqual(
      new Set([clinicsOfDeployment().toLocaleString('en')]),
    )
  },
)

it('rejects as many requests as Erlang’s formula says: 16 % of 200 a second that take 0.1 s on 20 functions', () => {
  expect(rejectedShare(20, 20)).toBeCloseTo(0.159, 3)
  expect(rejectedShare(1, 1)).toBe(0.5)
  expect(rejectedShare(100, 20)).toBeLessThan(1e-6)
})

it('costs less with units that are provisioned along the day, and twice as much with units for the peak all day', () => {
  const { onDemand, provisioned, reserved, fixed } = unitCost(100)
  expect(provisioned / onDemand).toBeCloseTo(0.51, 2)
  expect(fixed / onDemand).toBeCloseTo(2.06, 2)
  expect(reserved).toBeLessThan(provisioned)
  expect(reserved).toBeGreaterThan(0.46 * provisioned)
})

it('takes the figures of a delivery from one row of the simulation, apart from its writes', () => {
  const simulation = readFileSync('docs/decisions/2026-11-23-fleet-simulation.md', 'utf8')
  const { writes, reads, messages, invocations } = DELIVERY
  const figures = ['18.0', reads, '7.2', messages, invocations].join(' | ')
  expect(simulation).toContain(`| 1x, two cells, 5 % hang | 511 | ${figures} |`)
  // Between a delivery that succeeds at once and one that is retried, as measured.
  expect(writes).toBeGreaterThan(DELIVERY_UNITS.delivery.writes)
  expect(writes).toBeLessThan(DELIVERY_UNITS.retriedDelivery.writes)
})

it('costs less for each clinic the more there are, and never less than its requests', () => {
  const each = [1, 100, 10_000].map((count) => clinicsCost(count) / count)
  expect(each).toEqual([...each].sort((a, b) => b - a))
  expect(each[2]).toBeGreaterThan(deliveryCost(0.1 * 30 * 24 * 3600))
  expect(requestCost(2e6)).toBeCloseTo(2 * requestCost(1e6))
})
