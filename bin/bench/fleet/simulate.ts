/** A cell over time: all receivers are healthy, then some hang, then all are healthy again. */
import { sweepDeliveries } from '../../../shared/delivery/sweep-deliveries.ts'
import type { Delivery } from '../../../shared/domain/delivery.ts'
import { type Cell, type CellSettings, openCell, type Times } from './cell.ts'
import type { Endpoint } from './endpoints.ts'
import { createEvents, earlierFailure } from './load.ts'

export type Scenario = CellSettings & {
  readonly eventsPerSecond: number
  readonly healthyMs: number
  readonly hangingMs: number
  readonly recoveryMs: number
}

const START = Date.parse('2026-11-02T08:00:00Z')
const SECOND = 1000
const MINUTE = 60 * SECOND

/** Retries of earlier failures that fall due, a second. Their delays are those that the sweep serves. */
const EARLIER_FAILURES_PER_SECOND = 1
const EARLIER_FAILURES = [3, 4, 5]

/** An ended delivery is kept while a message of it may still be queued. */
const KEPT_MS = 16 * MINUTE

/** Due items of each partition that are counted before a sweep. */
const MAX_COUNTED = 100_000

export type Simulation = Awaited<ReturnType<typeof simulate>>

export async function simulate(scenario: Scenario) {
  const onset = START + scenario.healthyMs
  const recovery = onset + scenario.hangingMs
  const times = { start: START, onset, recovery, end: recovery + scenario.recoveryMs }
  const cell = openCell(scenario, times)
  addEarlierFailures(cell, times)
  createEvents({
    clock: cell.clock,
    random: cell.randomFor(6),
    fleet: cell.fleet,
    eventsPerSecond: scenario.eventsPerSecond,
    end: times.end,
    onEvent: (created) => fanOut(cell, created),
  })
  observe(cell)
  startSweeps(cell, scenario.sweepParts)
  await cell.clock.runUntil(recovery)
  const atRecovery = { ...cell.observed.open }
  await cell.clock.runUntil(times.end)
  const { observed, table, lanes } = cell
  return { scenario, observed, table: table.used, lanes, atRecovery }
}

/** Stores and queues the deliveries of an event. */
function fanOut({ table, queues, create }: Cell, created: readonly Endpointed[]): void {
  // Besides the deliveries: the event, its announcement and the clinic's counter.
  table.countTransaction([...create(created.map(({ delivery }) => delivery)), 0, 0, 0])
  void queues.push(
    'quick',
    created.map(({ endpoint, delivery }) => ({
      clinic: endpoint.clinic,
      webhook: delivery.webhook,
      delivery: delivery.id,
    })),
  )
}

type Endpointed = { readonly endpoint: Endpoint; readonly delivery: Delivery }

/** Deliveries that failed before the simulation, whose retries fall due while it runs. */
function addEarlierFailures({ fleet, randomFor, create }: Cell, { start, end }: Times): void {
  const random = randomFor(5)
  const innocent = fleet.flat().filter(({ hangs }) => !hangs)
  const count = Math.floor(((end - start) / SECOND) * EARLIER_FAILURES_PER_SECOND)
  for (let number = 0; number < count; number++) {
    const endpoint = innocent[Math.floor(random() * innocent.length)] as Endpoint
    const failures = EARLIER_FAILURES[number % EARLIER_FAILURES.length] as number
    const at = Math.round(start + 2 * MINUTE + random() * (end - start))
    create([earlierFailure(endpoint, number, failures, at)])
  }
}

/** Samples sizes each second. */
function observe(cell: Cell): void {
  const { clock, lanes, observed } = cell
  const { gauges, open } = observed
  gauges.quickVisible.sample(lanes.quick.visible())
  gauges.slowVisible.sample(lanes.slow.visible())
  gauges.delayed.sample(lanes.quick.state.delayed + lanes.slow.state.delayed)
  gauges.quickBusy.sample(lanes.quick.state.busy)
  gauges.slowBusy.sample(lanes.slow.state.busy)
  gauges.openOthers.sample(open.all - open.innocent)
  clock.at(clock.now() + SECOND, () => observe(cell))
}

/** Sweeps each minute. */
function startSweeps(cell: Cell, parts: number): void {
  const { clock } = cell
  void sweep(cell, parts)
  clock.at(clock.now() + MINUTE, () => startSweeps(cell, parts))
}

async function sweep({ clock, deliveries, ended, observed, queues }: Cell, parts: number): Promise<void> {
  const begin = clock.now()
  const kept = ended.findIndex(({ at }) => at >= begin - KEPT_MS)
  for (const { id } of ended.splice(0, kept === -1 ? ended.length : kept)) deliveries.forget(id)
  const due = deliveries.dueUntil(begin, MAX_COUNTED)
  observed.gauges.sweepLagMs.sample(begin - (due[0]?.at ?? begin))
  observed.gauges.dueItems.sample(due.length)
  const sweepPart = (_: unknown, part: number): Promise<void> =>
    sweepDeliveries({ deliveries: deliveries.partOf(part, parts), queues, now: clock.now })
  await Promise.all(Array.from({ length: parts }, sweepPart))
  observed.gauges.sweepMs.sample(clock.now() - begin)
}
