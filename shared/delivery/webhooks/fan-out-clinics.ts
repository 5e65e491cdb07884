import type { ClinicId } from '../../domain/clinic.ts'
import type { DeliveryReference } from '../../domain/webhooks/delivery.ts'
import { MAX_SWEEP_MS, type ReportLag, settleAll } from '../sweep-batches.ts'
import type { DeliveryQueues } from './delivery-queues.ts'
import type { FanOutQueue } from './fan-out-queue.ts'

/** Clinics at a time. */
const CONCURRENCY = 8

/**
 * Transactions for a clinic when a batch of the stream announces its events. The rest of a backlog is queued, since the
 * next batch, with events of other clinics, waits for this one.
 */
const FIRST_TURN = 3

export type EventFanOut = {
  readonly events: {
    /** One turn: a bounded number of transactions. True if there may be more events. */
    readonly fanOut: (
      clinic: ClinicId,
      push: (created: DeliveryReference[]) => Promise<void>,
      maxTransactions?: number,
    ) => Promise<boolean>
  }
  readonly queues: DeliveryQueues
}

/** A fan-out that queues the clinics with more events. */
export type QueuedFanOut = EventFanOut & { readonly later: FanOutQueue }

export type EventSweep = EventFanOut & {
  readonly now: () => number
  readonly events: {
    readonly clinicsWithAnnounced: (search: {
      readonly onRead: (announcedAt: number) => void
    }) => Promise<readonly ClinicId[]>
  }
  readonly reportLag?: ReportLag
}

/**
 * Fans out announced events of these clinics, and queues their deliveries. A clinic that has more than fit into a first
 * turn is queued. A failure does not stop other clinics.
 * @throws the first error, at the end
 */
export const fanOutClinics = (fanOut: QueuedFanOut, clinics: Iterable<ClinicId>): Promise<void> =>
  settleAll(clinics, (clinic) => takeQueuedTurn(fanOut, clinic, FIRST_TURN), CONCURRENCY)

/** A further turn of a queued clinic, which is queued again if it has more events. */
export const continueFanOut = (fanOut: QueuedFanOut, clinic: ClinicId): Promise<void> =>
  takeQueuedTurn(fanOut, clinic)

async function takeQueuedTurn(
  fanOut: QueuedFanOut,
  clinic: ClinicId,
  maxTransactions?: number,
): Promise<void> {
  if (await takeTurn(fanOut, clinic, maxTransactions)) await fanOut.later.push(clinic)
}

/** True if the clinic may have more events. */
const takeTurn = (
  { events, queues }: EventFanOut,
  clinic: ClinicId,
  maxTransactions?: number,
): Promise<boolean> => events.fanOut(clinic, (created) => queues.push('quick', created), maxTransactions)

/** Fans out the events of all clinics that have announced some. The lag is the age of the oldest event that was read. */
export async function sweepEvents(sweep: EventSweep): Promise<void> {
  let lag = 0
  const onRead = (announcedAt: number): void => {
    lag = Math.max(lag, sweep.now() - announcedAt)
  }
  const clinics = await sweep.events.clinicsWithAnnounced({ onRead })
  sweep.reportLag?.(lag)
  // Each sweep starts with other clinics, so that no clinic is always the last.
  const first = Math.floor(sweep.now() / 60_000) * CONCURRENCY * 7
  const rotated = clinics.map((_, at) => clinics[(first + at) % clinics.length] as ClinicId)
  await takeTurns(sweep, rotated)
}

/** After its turn, a clinic that has more events waits for the turns of the others, until none has more or the time is up. */
function takeTurns(sweep: EventSweep, waiting: ClinicId[]): Promise<void> {
  const { now } = sweep
  const end = now() + MAX_SWEEP_MS
  // A generator would end for good while the last clinics have their turns, after which they may wait again.
  const next = (): IteratorResult<ClinicId, undefined> => {
    const clinic = now() < end ? waiting.shift() : undefined
    return clinic === undefined ? { done: true, value: undefined } : { done: false, value: clinic }
  }
  const work = async (clinic: ClinicId): Promise<void> => {
    if (await takeTurn(sweep, clinic)) waiting.push(clinic)
  }
  return settleAll({ [Symbol.iterator]: () => ({ next }) }, work, CONCURRENCY)
}
