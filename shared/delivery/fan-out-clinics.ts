import type { ClinicId } from '../domain/clinic.ts'
import type { DeliveryReference } from '../domain/delivery.ts'
import type { DeliveryQueues } from './delivery-queues.ts'
import { settleAll } from './settle-all.ts'
import { MAX_SWEEP_MS, type ReportLag } from './sweep-batches.ts'

/** Clinics at a time. */
const CONCURRENCY = 8

/** A batch of the stream may take this long; then the sweep continues, and the next batch is processed. */
const MAX_BATCH_MS = 30_000

export type EventFanOut = {
  readonly events: {
    /** One turn: a bounded number of transactions. True if there may be more events. */
    readonly fanOut: (
      clinic: ClinicId,
      push: (created: DeliveryReference[]) => Promise<void>,
    ) => Promise<boolean>
  }
  readonly queues: DeliveryQueues
  readonly now: () => number
}

export type EventSweep = EventFanOut & {
  readonly events: {
    readonly clinicsWithAnnounced: (search: {
      readonly onRead: (announcedAt: number) => void
    }) => Promise<readonly ClinicId[]>
  }
  readonly reportLag?: ReportLag
}

/**
 * Fans out the announced events of these clinics, and queues their deliveries. A failure does not stop other clinics.
 * @throws the first error, at the end
 */
export const fanOutClinics = (fanOut: EventFanOut, clinics: Iterable<ClinicId>): Promise<void> =>
  takeTurns(fanOut, [...clinics], MAX_BATCH_MS)

/** The same with all clinics that have announced events. The lag is the age of the oldest event that was read. */
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
  await takeTurns(sweep, rotated, MAX_SWEEP_MS)
}

/** After its turn, a clinic that has more events waits for the turns of the others, until none has more or the time is up. */
function takeTurns({ events, queues, now }: EventFanOut, waiting: ClinicId[], maxMs: number): Promise<void> {
  const end = now() + maxMs
  // Not a generator, which would end for good while the last clinics have their turns.
  const next = (): IteratorResult<ClinicId, undefined> => {
    const clinic = now() < end ? waiting.shift() : undefined
    return clinic === undefined ? { done: true, value: undefined } : { done: false, value: clinic }
  }
  const takeTurn = async (clinic: ClinicId): Promise<void> => {
    if (await events.fanOut(clinic, (created) => queues.push('quick', created))) waiting.push(clinic)
  }
  return settleAll({ [Symbol.iterator]: () => ({ next }) }, takeTurn, CONCURRENCY)
}
