import type { ClinicId } from '../domain/clinic.ts'
import type { DeliveryReference } from '../domain/delivery.ts'
import type { DeliveryQueues } from './delivery-queues.ts'
import { settleAll } from './settle-all.ts'

/** Clinics at a time: one with many events does not hold up the others. */
const CONCURRENCY = 8

export type EventFanOut = {
  readonly events: {
    readonly fanOut: (
      clinic: ClinicId,
      push: (created: DeliveryReference[]) => Promise<void>,
    ) => Promise<void>
  }
  readonly queues: DeliveryQueues
}

/** Fans out the announced events of these clinics, and queues their deliveries. A failure does not stop other clinics. */
export const fanOutClinics = ({ events, queues }: EventFanOut, clinics: Iterable<ClinicId>): Promise<void> =>
  settleAll(
    clinics,
    (clinic) => events.fanOut(clinic, (created) => queues.push('quick', created)),
    CONCURRENCY,
  )
