/** One cell: the real consumer of the delivery queues, with a simulated clock, table, queues and receivers. */
import { deliverEvent } from '../../../shared/delivery/deliver-event.ts'
import type { Delivery } from '../../../shared/domain/delivery.ts'
import { mulberry32 } from '../../demo/random.ts'
import { simulatedClock } from './clock.ts'
import { type Endpoint, fleetEndpoints } from './endpoints.ts'
import { memoryHealth } from './health-records.ts'
import { type LaneSizes, simulatedLanes } from './lanes.ts'
import { memoryDeliveries } from './memory-deliveries.ts'
import { observations } from './observations.ts'
import { simulatedReceivers } from './receivers.ts'
import { simulatedTable } from './simulated-table.ts'

export type CellSettings = {
  readonly seed: number
  readonly clinics: number
  /** Of the endpoints. */
  readonly hangingShare: number
  readonly lanes: LaneSizes
  /** Sweeps at a time, which share the partitions of due deliveries. */
  readonly sweepParts: number
}

/** When the simulation starts, when some receivers begin to hang, when they respond again, and when it ends. */
export type Times = {
  readonly start: number
  readonly onset: number
  readonly recovery: number
  readonly end: number
}

export type Cell = ReturnType<typeof openCell>

export function openCell({ seed, clinics, hangingShare, lanes: sizes }: CellSettings, times: Times) {
  /** Independent numbers for each use, so that one use does not change the others. */
  const randomFor = (use: number): (() => number) => mulberry32(seed * 1000 + use)
  const clock = simulatedClock(times.start)
  const fleet = fleetEndpoints(clinics, hangingShare, randomFor(1))
  const endpoints = new Map(fleet.flat().map((endpoint) => [endpoint.webhook.id, endpoint]))
  const endpointOf = (id: string): Endpoint => endpoints.get(id) as Endpoint
  const observed = observations(times.recovery)
  /** Deliveries in the order in which they ended. */
  const ended: { readonly at: number; readonly id: string }[] = []
  const table = simulatedTable(clock, randomFor(2))
  const health = memoryHealth(table)
  const deliveries = memoryDeliveries(table, {
    webhook: (id) => endpoints.get(id)?.webhook ?? null,
    health: health.find,
    onEnd: (delivery) => {
      observed.onEnd(endpointOf(delivery.webhook), delivery, clock.now())
      ended.push({ at: clock.now(), id: delivery.id })
    },
  })
  const transport = simulatedReceivers({
    clock,
    random: randomFor(3),
    endpoint: endpointOf,
    delivery: deliveries.peek,
    isHanging: () => clock.now() >= times.onset && clock.now() < times.recovery,
    onAttempt: (endpoint, delivery) => observed.onAttempt(endpoint, delivery, clock.now()),
  })
  const { lanes, queues } = simulatedLanes(clock, sizes, (lane, queued) =>
    deliverEvent(consumer, queued, lane),
  )
  let claims = 0
  const consumer: Parameters<typeof deliverEvent>[0] = {
    deliveries,
    health,
    transport,
    queues,
    webhooks: { change: () => table.write() },
    now: clock.now,
    random: randomFor(4),
    newToken: () => String(claims++),
  }

  /** Creates deliveries. Returns the sizes of their items. */
  function create(created: readonly Delivery[]): number[] {
    for (const delivery of created) observed.onCreate(endpointOf(delivery.webhook), delivery)
    return created.flatMap((delivery) => deliveries.create(endpointOf(delivery.webhook).clinic, [delivery]))
  }

  return { randomFor, clock, fleet, observed, ended, table, deliveries, lanes, queues, create }
}
