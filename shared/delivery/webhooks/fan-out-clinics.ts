import type { ClinicId } from '../../domain/clinic.ts'
import type { DeliveryReference } from '../../domain/webhooks/delivery.ts'
import { MAX_SWEEP_MS, type ReportLag, settleAll } from '../sweep-batches.ts'
import type { DeliveryQueues } from './delivery-queues.ts'

/** Clinics at a time. */
const CONCURRENCY = 8

export type EventFanOut = {
  readonly events: {
    /** A bounded number of transactions. True if there may be more events. */
    readonly fanOut: (
      clinic: ClinicId,
      push: (created: DeliveryReference[]) => Promise<void>,
    ) => Promise<boolean>
  }
  readonly queues: DeliveryQueues
}

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
 * Fans out announced events of these clinics, and queues their deliveries. What a clinic has more than fits is left to its next
 * batch of the stream, or to the sweep. A failure does not stop other clinics.
 * @throws the first error, at the end
 */
export const fanOutClinics = (fanOut: EventFanOut, clinics: Iterable<ClinicId>): Promise<void> =>
  settleAll(clinics, (clinic) => fanOutClinic(fanOut, clinic), CONCURRENCY)

/** True if the clinic may have more events. */
const fanOutClinic = ({ events, queues }: EventFanOut, clinic: ClinicId): Promise<boolean> =>
  events.fanOut(clinic, (created) => queues.push('quick', created))

/** Fans out the events of all clinics that have announced some. The lag is the age of the oldest event that was read. */
export async function sweepEvents(sweep: EventSweep): Promise<void> {
  const { events, now, reportLag } = sweep
  const end = now() + MAX_SWEEP_MS
  let lag = 0
  const onRead = (announcedAt: number): void => {
    lag = Math.max(lag, now() - announcedAt)
  }
  const clinics = await events.clinicsWithAnnounced({ onRead })
  reportLag?.(lag)
  // Each sweep starts with other clinics, so that no clinic is always the last.
  const first = Math.floor(now() / 60_000) * CONCURRENCY * 7
  const waiting = clinics.map((_, at) => clinics[(first + at) % clinics.length] as ClinicId)
  const failures: unknown[] = []
  const work = async (): Promise<void> => {
    for (let clinic = waiting.shift(); clinic !== undefined && now() < end; clinic = waiting.shift()) {
      const hasMore = await fanOutClinic(sweep, clinic).catch((error) => void failures.push(error))
      // It waits until all others have had some.
      if (hasMore) waiting.push(clinic)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  if (failures.length > 0) throw failures[0]
}
