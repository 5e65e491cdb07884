import type { ClinicId } from '../domain/clinic.ts'
import type { DeliveryReference } from '../domain/delivery.ts'
import type { DeliveryQueues } from './delivery-queues.ts'
import { settleAll } from './settle-all.ts'
import { sweepBatches } from './sweep-batches.ts'

/** Clinics at a time: one with many events does not hold up the others. */
const CONCURRENCY = 8

export type EventFanOut = {
  readonly events: {
    /** One turn: a bounded number of transactions. */
    readonly fanOut: (
      clinic: ClinicId,
      push: (created: DeliveryReference[]) => Promise<void>,
    ) => Promise<void>
  }
  readonly queues: DeliveryQueues
}

export type EventSweep = EventFanOut & {
  readonly events: { readonly clinicsWithAnnounced: () => Promise<readonly ClinicId[]> }
  readonly now: () => number
}

const takeTurn =
  ({ events, queues }: EventFanOut) =>
  (clinic: ClinicId): Promise<void> =>
    events.fanOut(clinic, (created) => queues.push('quick', created))

/** Fans out the announced events of these clinics, and queues their deliveries. A failure does not stop other clinics. */
export const fanOutClinics = (fanOut: EventFanOut, clinics: Iterable<ClinicId>): Promise<void> =>
  settleAll(clinics, takeTurn(fanOut), CONCURRENCY)

/** Fans out the events of all clinics that wait, a turn of each after the other, until there are none or the time is up. */
export const sweepEvents = (sweep: EventSweep): Promise<void> => {
  const turn = takeTurn(sweep)
  const failed = new Set<ClinicId>()
  return sweepBatches(waitingClinics(sweep, failed), {
    work: (clinic) =>
      turn(clinic).catch((error) => {
        failed.add(clinic)
        throw error
      }),
    concurrency: CONCURRENCY,
    now: sweep.now,
  })
}

/** The clinics that wait, again and again, without those that failed in this sweep. */
async function* waitingClinics(
  { events }: EventSweep,
  failed: ReadonlySet<ClinicId>,
): AsyncGenerator<ClinicId[]> {
  for (;;) {
    const waiting = (await events.clinicsWithAnnounced()).filter((clinic) => !failed.has(clinic))
    if (waiting.length === 0) return
    yield waiting
  }
}
