import type { EndpointService } from '../api/route.ts'
import type { DeliveryQueue } from '../domain/webhooks/delivery.ts'
import { ANNOUNCED_PARTITION_PREFIX } from '../store/keys/events.ts'
import type { Family } from '../store/keys/families.ts'

/** The queues that workers consume. */
export type QueueName = 'emails' | 'feedback' | 'deliveries' | 'slow-deliveries' | 'maintenance'

/** A queue that workers consume, the queue of its dead letters, or the queue of failed batches of the table's stream. */
export type QueueId = QueueName | `${QueueName}-dead` | 'failed-fan-outs'

/** The trigger that invokes a worker. */
export type Trigger =
  | {
      readonly type: 'queue'
      /** The number of batches of each queue that may be processed at a time. */
      readonly maxConcurrency: Readonly<Partial<Record<QueueName, number>>>
      /** The messages of a batch; ten if not set. A batch takes as long as its slowest message. */
      readonly batchSize?: Readonly<Partial<Record<QueueName, number>>>
    }
  /** Items inserted into the table's partitions with this prefix. */
  | { readonly type: 'stream'; readonly partitionPrefix: string }
  /** `parts` invocations a minute, which share the partitions of the sweep. At most 5: the targets of a rule. */
  | { readonly type: 'schedule'; readonly every: 'minute'; readonly parts?: 1 | 2 | 3 | 4 | 5 }
  /** Log groups that SNS writes delivery receipts to. An opt-in stack adds the subscription. */
  | { readonly type: 'subscription'; readonly to: 'sms-receipts' }

/** A service that a worker uses besides the table. */
export type WorkerService = EndpointService | 'email' | 'slow-delivery-queue' | 'maintenance-queue'

/** A function that no request invokes, as data. Infrastructure, grants and its handler derive from it. */
export type Worker = {
  /** Names the Lambda, its bundle and its file in functions/workers/. */
  readonly id: string
  /** The part of the stack that the worker belongs to. */
  readonly part: 'messaging' | 'events' | 'maintenance'
  readonly trigger: Trigger
  readonly uses?: {
    readonly services?: readonly WorkerService[]
    /** Families of which `UpdateItem` may access these attributes only, besides the key. */
    readonly updatesOnly?: Readonly<Partial<Record<Family, readonly string[]>>>
    /** Calls on every partition, the operator's included: of the table, and of tables that were restored from it. */
    readonly wholeTables?: { readonly inUse: readonly string[]; readonly restored: readonly string[] }
  }
  /** What each queue is, for a consumer of deliveries (delivery-queues.ts). */
  readonly deliveryQueues?: Readonly<Partial<Record<QueueName, DeliveryQueue>>>
  /** Defaults to the timeout of endpoints. */
  readonly timeoutSeconds?: number
  readonly memoryMb?: number
}

export const sendEmailWorker = {
  id: 'send-email',
  part: 'messaging',
  // The minimum of SQS. Together, both invocations send at the rate of SES.
  trigger: { type: 'queue', maxConcurrency: { emails: 2 } },
  uses: { services: ['email-queue', 'email'] },
  // Waiting for its turn, reads, the claim, SES and the record of its result each have a limit of their own.
  timeoutSeconds: 75,
} as const satisfies Worker

export const emailFeedbackWorker = {
  id: 'email-feedback',
  part: 'messaging',
  trigger: { type: 'queue', maxConcurrency: { feedback: 10 } },
} as const satisfies Worker

export const smsReceiptsWorker = {
  id: 'sms-receipts',
  part: 'messaging',
  trigger: { type: 'subscription', to: 'sms-receipts' },
  // A receipt may wait 20 s for its SMS to be recorded.
  timeoutSeconds: 60,
} as const satisfies Worker

export const sweepMessagesWorker = {
  id: 'sweep-messages',
  part: 'messaging',
  trigger: { type: 'schedule', every: 'minute', parts: 2 },
  uses: { services: ['email-queue'] },
  timeoutSeconds: 60,
} as const satisfies Worker

export const fanOutEventsWorker = {
  id: 'fan-out-events',
  part: 'events',
  trigger: { type: 'stream', partitionPrefix: ANNOUNCED_PARTITION_PREFIX },
  uses: { services: ['delivery-queue'] },
  timeoutSeconds: 60,
} as const satisfies Worker

export const deliverEventWorker = {
  id: 'deliver-event',
  part: 'events',
  trigger: {
    type: 'queue',
    maxConcurrency: { deliveries: 100, 'slow-deliveries': 100 },
    // One message that takes 15 s would hold up nine others.
    batchSize: { 'slow-deliveries': 1 },
  },
  deliveryQueues: { deliveries: 'quick', 'slow-deliveries': 'slow' },
  uses: {
    services: ['delivery-queue', 'slow-delivery-queue'],
    // An endpoint that has failed for too long is disabled. Its URL and secrets stay.
    updatesOnly: { webhooks: ['isActive', 'updatedAt', 'v'] },
  },
  // The messages of a batch are processed concurrently; an attempt takes up to 15 s.
  timeoutSeconds: 60,
} as const satisfies Worker

export const sweepEventsWorker = {
  id: 'sweep-events',
  part: 'events',
  trigger: { type: 'schedule', every: 'minute', parts: 4 },
  uses: { services: ['delivery-queue'] },
  timeoutSeconds: 60,
} as const satisfies Worker

export const sweepDeliveriesWorker = {
  id: 'sweep-deliveries',
  part: 'events',
  trigger: { type: 'schedule', every: 'minute', parts: 4 },
  uses: { services: ['delivery-queue'] },
  timeoutSeconds: 60,
} as const satisfies Worker

export const refreshCopiesWorker = {
  id: 'refresh-copies',
  part: 'maintenance',
  trigger: { type: 'schedule', every: 'minute' },
  timeoutSeconds: 60,
} as const satisfies Worker

const WHOLE_TABLE = [
  'BatchGetItem',
  'BatchWriteItem',
  'DeleteItem',
  'GetItem',
  'PutItem',
  'Query',
  'UpdateItem',
] as const

/**
 * Verifies, migrates and reconciles whole tables. Migrated and reconciled items can be of every family, so it may call on all. Only the
 * operator's role `maintain` may send to its queue.
 */
export const runMaintenanceWorker = {
  id: 'run-maintenance',
  part: 'maintenance',
  // The minimum of SQS. The lease of a walk lets one invocation work on it at a time.
  trigger: {
    type: 'queue',
    maxConcurrency: { maintenance: 2 },
    batchSize: { maintenance: 1 },
  },
  uses: {
    wholeTables: {
      // A migration scans.
      inUse: [...WHOLE_TABLE, 'Scan'],
      // A reconciliation erases patients again, whose other items must not have changed.
      restored: [...WHOLE_TABLE, 'ConditionCheckItem'],
    },
    services: ['maintenance-queue'],
  },
  // The maximum of Lambda: a clinic has to be finished in one invocation.
  timeoutSeconds: 900,
  // One processor.
  memoryMb: 1769,
} as const satisfies Worker

/** THE WORKER TABLE: every function that no request invokes. */
export const WORKERS: readonly Worker[] = [
  sendEmailWorker,
  emailFeedbackWorker,
  smsReceiptsWorker,
  sweepMessagesWorker,
  fanOutEventsWorker,
  deliverEventWorker,
  sweepEventsWorker,
  sweepDeliveriesWorker,
  refreshCopiesWorker,
  runMaintenanceWorker,
]

/** The source file of a function, by the id of its route or worker, or by its name. */
export const functionFile = (id: string): string =>
  WORKERS.some((worker) => worker.id === id) ? `functions/workers/${id}.ts` : `functions/${id}.ts`
