/** The stores of the simulation mean the same as the real ones. */
import { describe, expect, it } from 'vitest'
import { type Clock, simulatedClock } from '../../../bin/bench/fleet/clock.ts'
import { dueItems } from '../../../bin/bench/fleet/due-items.ts'
import { memoryHealth } from '../../../bin/bench/fleet/health-records.ts'
import { memoryDeliveries } from '../../../bin/bench/fleet/memory-deliveries.ts'
import { simulatedTable } from '../../../bin/bench/fleet/simulated-table.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import {
  afterAttempt,
  type Delivery,
  type DueDelivery,
  newDelivery,
} from '../../../shared/domain/delivery.ts'
import { HEALTHY } from '../../../shared/domain/webhook-health.ts'

const CLINIC = 'c1' as ClinicId
const NOW = Date.parse('2026-11-02T08:00:00Z')

function open() {
  const clock = simulatedClock(NOW)
  const table = simulatedTable(clock, () => 0.5)
  const health = memoryHealth(table)
  const ended: string[] = []
  const deliveries = memoryDeliveries(table, {
    webhook: () => null,
    health: health.find,
    onEnd: ({ id }) => ended.push(id),
  })
  return { clock, table, health, deliveries, ended }
}

function deliveryOf(id: string, sequence = 1): Delivery {
  const event = {
    id: `e${id}`,
    event: 'patient.created',
    record: 'r',
    sequence,
    data: { id: 'r' },
    createdAt: new Date(NOW).toISOString(),
  } as const
  return newDelivery(event, { id: CLINIC, timezone: 'UTC' }, { id, webhook: 'w1', now: NOW })
}

/** The result of work that takes simulated time. */
async function settled<T>(clock: Clock, work: Promise<T>): Promise<T> {
  await clock.runUntil(clock.now() + 60_000)
  return work
}

const attempted = (delivery: Delivery): Delivery =>
  afterAttempt(
    delivery,
    { at: new Date(NOW).toISOString(), status: 200, error: null, latencyMs: 1 },
    true,
    null,
    false,
  )

describe('deliveries in memory', () => {
  it('lets one of two concurrent claims succeed', async () => {
    const { clock, deliveries } = open()
    deliveries.create(CLINIC, [deliveryOf('d-01')])
    const read = await settled(clock, deliveries.readContext(CLINIC, 'w1', 'd-01'))
    const claims = ['a', 'b'].map((token) =>
      deliveries.claim(CLINIC, read as NonNullable<typeof read>, { token, until: NOW + 1 }),
    )
    expect(await settled(clock, Promise.all(claims))).toEqual([true, false])
  })

  it('refuses the claim of a delivery that was changed after it was read', async () => {
    const { clock, deliveries } = open()
    deliveries.create(CLINIC, [deliveryOf('d-01')])
    const read = await settled(clock, deliveries.readContext(CLINIC, 'w1', 'd-01'))
    await settled(
      clock,
      deliveries.change(CLINIC, 'w1', 'd-01', (before) => ({ ...before, dueAt: NOW + 5 })),
    )
    const claim = { token: 'a', until: NOW + 1 }
    expect(await settled(clock, deliveries.claim(CLINIC, read as NonNullable<typeof read>, claim))).toBe(
      false,
    )
  })

  it('applies concurrent changes one after the other', async () => {
    const { clock, deliveries } = open()
    deliveries.create(CLINIC, [deliveryOf('d-01')])
    const count = (before: Delivery) => ({ ...before, failedAttempts: before.failedAttempts + 1 })
    const changes = [1, 2, 3].map(() => deliveries.change(CLINIC, 'w1', 'd-01', count))
    await settled(clock, Promise.all(changes))
    expect(deliveries.peek('d-01')?.failedAttempts).toBe(3)
  })

  it('finds the deliveries of a record that have had no attempt', async () => {
    const { clock, deliveries, ended } = open()
    const [first, second] = [deliveryOf('d-01', 1), deliveryOf('d-02', 2)]
    deliveries.create(CLINIC, [second, first])
    const earlier = () => settled(clock, deliveries.earlierUnattempted(CLINIC, second))
    expect(await earlier()).toBe('d-01')
    expect(await settled(clock, deliveries.nextUnattempted(CLINIC, first))).toBe('d-02')
    await settled(clock, deliveries.change(CLINIC, 'w1', 'd-01', attempted))
    expect(await earlier()).toBeNull()
    expect(ended).toEqual(['d-01'])
  })

  it('lists what waits by age, and what is due by time', async () => {
    const { clock, deliveries } = open()
    deliveries.create(
      CLINIC,
      ['d-02', 'd-01', 'd-03'].map((id, index) => deliveryOf(id, index + 1)),
    )
    const wait = (id: string, dueAt: number) =>
      settled(
        clock,
        deliveries.change(CLINIC, 'w1', id, (before) => ({
          ...before,
          waiting: { for: 'turn', since: NOW, retryAt: null },
          dueAt,
        })),
      )
    await wait('d-03', NOW + 1)
    await wait('d-01', NOW + 90_000)
    const waiting = (after?: string) => settled(clock, deliveries.waiting(CLINIC, 'w1', 5, after))
    expect((await waiting()).map(({ id }) => id)).toEqual(['d-01', 'd-03'])
    expect(await waiting('d-01')).toEqual([{ id: 'd-03', waitsFor: 'turn' }])
    const read = async (): Promise<string[]> => {
      const ids: string[] = []
      for await (const batch of deliveries.dueBatches(NOW + 90_000, 100))
        ids.push(...batch.map(({ id }) => id))
      return ids
    }
    expect(await settled(clock, read())).toEqual(['d-03', 'd-01'])
  })

  it('counts the units of a claim, and of a transaction twice', async () => {
    const { clock, deliveries, table } = open()
    deliveries.create(CLINIC, [deliveryOf('d-01')])
    const read = await settled(clock, deliveries.readContext(CLINIC, 'w1', 'd-01'))
    await settled(
      clock,
      deliveries.claim(CLINIC, read as NonNullable<typeof read>, { token: 'a', until: NOW }),
    )
    expect(table.used.writeUnits).toBe(1)
    // The delivery, its due item and its place among first attempts.
    await settled(clock, deliveries.change(CLINIC, 'w1', 'd-01', attempted))
    expect(table.used.writeUnits).toBe(1 + 2 * 3)
  })
})

describe('health in memory', () => {
  it('lets one of two consumers take a slot, and frees it with the attempt', async () => {
    const { clock, health } = open()
    const take = () => health.takeSlot(CLINIC, 'w1', HEALTHY, { number: 1, until: NOW + 1 })
    expect(await settled(clock, Promise.all([take(), take()]))).toEqual([true, false])
    expect(health.find('w1').slots).toEqual([0, NOW + 1, 0])
    const failure = {
      result: 'failure',
      at: NOW,
      isSlow: true,
      probeAt: NOW + 5,
      slot: { number: 1, until: NOW + 1 },
      isWaiting: true,
    } as const
    await settled(clock, health.record(CLINIC, 'w1', failure))
    expect(health.find('w1')).toEqual({
      ...HEALTHY,
      failures: 1,
      slowAttempts: 1,
      failingSince: NOW,
      probeAt: NOW + 5,
      probes: 1,
      waitingSince: NOW,
    })
    const success = {
      result: 'success',
      at: NOW,
      isSlow: false,
      probeAt: null,
      slot: null,
      isWaiting: false,
    } as const
    await settled(clock, health.record(CLINIC, 'w1', success))
    expect(health.find('w1')).toEqual({ ...HEALTHY, waitingSince: NOW })
  })

  it('keeps that deliveries wait if another has begun to wait', async () => {
    const { clock, health } = open()
    await settled(clock, health.recordWaiting(CLINIC, 'w1', 5))
    await settled(clock, health.clearWaiting(CLINIC, 'w1', 4))
    expect(health.find('w1').waitingSince).toBe(5)
    await settled(clock, health.clearWaiting(CLINIC, 'w1', 5))
    expect(health.find('w1').waitingSince).toBeNull()
  })
})

it('reads due items page by page, in order', () => {
  const items = dueItems()
  const at = [5_000, 1_000, 90_000, 1_500, 1_500]
  const all = at.map(
    (time, index): DueDelivery => ({ clinic: CLINIC, webhook: 'w', id: `d${index}`, at: time }),
  )
  for (const item of all) items.add(item)
  const first = items.query(60_000, null, 2)
  expect(first.map(({ id }) => id)).toEqual(['d1', 'd3'])
  const rest = items.query(60_000, first.at(-1) as DueDelivery, 10)
  expect(rest.map(({ id }) => id)).toEqual(['d4', 'd0'])
  items.remove(all[1] as DueDelivery)
  expect(items.query(60_000, null, 1).map(({ id }) => id)).toEqual(['d3'])
})
