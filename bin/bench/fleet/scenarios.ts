import { deliverEventWorker, sweepDeliveriesWorker } from '../../../shared/runtime/workers.ts'
import type { LaneSizes } from './lanes.ts'
import type { Scenario } from './simulate.ts'

const MINUTE = 60_000

/** The batch size of an event source mapping for which the worker sets none. */
const BATCH_SIZE = 10

const { maxConcurrency, batchSize } = deliverEventWorker.trigger

const LANES: LaneSizes = {
  quick: { batchSize: BATCH_SIZE, maxConcurrency: maxConcurrency.deliveries },
  slow: { batchSize: batchSize['slow-deliveries'], maxConcurrency: maxConcurrency['slow-deliveries'] },
}

/** One cell of the fleet: 5,000 clinics with 250 events and 500 deliveries a second. */
const CELL: Scenario = {
  seed: 1,
  clinics: 5_000,
  eventsPerSecond: 250,
  hangingShare: 0,
  healthyMs: MINUTE,
  hangingMs: 15 * MINUTE,
  recoveryMs: 8 * MINUTE,
  lanes: LANES,
  sweepParts: sweepDeliveriesWorker.trigger.parts,
}

export type NamedScenario = {
  readonly name: string
  readonly scenario: Scenario
  /** Whether the bounds must hold: an overload only shows what happens. */
  readonly isBound: boolean
}

export const SCENARIOS: readonly NamedScenario[] = [
  { name: '1x, two cells, 1 % hang', scenario: { ...CELL, hangingShare: 0.01 }, isBound: true },
  { name: '1x, two cells, 5 % hang', scenario: { ...CELL, hangingShare: 0.05 }, isBound: true },
  { name: '1x, two cells, 20 % hang', scenario: { ...CELL, hangingShare: 0.2 }, isBound: true },
  {
    name: '10x, twenty cells, 20 % hang',
    scenario: { ...CELL, seed: 2, hangingShare: 0.2 },
    isBound: true,
  },
  {
    name: 'peak of 5x, two cells, 5 % hang',
    scenario: {
      ...CELL,
      eventsPerSecond: 5 * CELL.eventsPerSecond,
      hangingShare: 0.05,
      healthyMs: MINUTE / 2,
      hangingMs: 2 * MINUTE,
      recoveryMs: MINUTE / 2,
    },
    isBound: false,
  },
  {
    name: '10x, one cell, 5 % hang',
    scenario: {
      ...CELL,
      clinics: 100_000,
      eventsPerSecond: 5_000,
      hangingShare: 0.05,
      healthyMs: MINUTE / 4,
      hangingMs: MINUTE / 2,
      recoveryMs: MINUTE / 4,
    },
    isBound: false,
  },
]
