import type { QueueId } from '../../shared/runtime/workers.ts'
import type { AlarmDefinition, Severity } from './alarm.ts'

const deadLetters = (queue: QueueId, id: string, why: string): AlarmDefinition => ({
  id,
  severity: 'look-tomorrow',
  why,
  page: 'dead-letters',
  figure: { of: 'queue', queue, metric: 'ApproximateNumberOfMessagesVisible' },
  above: 0,
  minutes: 5,
})

const queueAge = (
  queue: QueueId,
  id: string,
  severity: Severity,
  seconds: number,
  why: string,
): AlarmDefinition => ({
  id,
  severity,
  why,
  page: 'queue-age',
  figure: { of: 'queue', queue, metric: 'ApproximateAgeOfOldestMessage' },
  above: seconds,
  minutes: 5,
  periods: 3,
  breaches: 3,
})

/** The alarms on queues and their consumers. A message that stays in a queue too long is late; a dead letter was given up. */
export const QUEUE_ALARMS: readonly AlarmDefinition[] = [
  deadLetters('emails-dead', 'dead-emails', 'Emails could not be processed.'),
  deadLetters('feedback-dead', 'dead-feedback', 'Feedback of SES could not be processed.'),
  deadLetters('deliveries-dead', 'dead-deliveries', 'Deliveries could not be processed.'),
  deadLetters(
    'slow-deliveries-dead',
    'dead-slow-deliveries',
    'Deliveries to slow webhook endpoints could not be processed.',
  ),
  {
    ...deadLetters(
      'failed-fan-outs',
      'failed-fan-outs',
      'The fan-out failed at a batch of the stream. The sweep of events processes it.',
    ),
    page: 'failed-fan-outs',
  },
  deadLetters(
    'maintenance-dead',
    'dead-maintenance',
    'A verification, a migration or the reconciliation of a restored table failed five times.',
  ),
  {
    id: 'emails-waiting',
    severity: 'patients-affected',
    why: 'Emails wait for more than half an hour.',
    page: 'queue-age',
    figure: { of: 'email-wait' },
    above: 1800,
    minutes: 5,
    // A single email that SES does not take is tried every quarter of an hour.
    periods: 4,
    breaches: 1,
  },
  queueAge('feedback', 'feedback-waiting', 'look-tomorrow', 1800, 'Feedback of SES is not recorded.'),
  queueAge(
    'deliveries',
    'deliveries-waiting',
    'patients-affected',
    1800,
    'Deliveries wait for more than half an hour.',
  ),
  {
    id: 'deliveries-queued-again',
    severity: 'patients-affected',
    why: 'For half an hour, deliveries are queued again because calls of the table fail.',
    page: 'queue-age',
    figure: {
      of: 'service',
      metric: 'table_unavailable',
      statistic: 'Sum',
      dimensions: { worker: 'deliver-event' },
    },
    above: 0,
    minutes: 5,
    // A delivery is queued again for less than a minute, and is then new to its queue.
    periods: 6,
    breaches: 6,
  },
  queueAge(
    'slow-deliveries',
    'slow-deliveries-waiting',
    'look-tomorrow',
    3600,
    'Deliveries to slow webhook endpoints wait for more than an hour.',
  ),
  {
    id: 'deliveries-failing',
    severity: 'look-tomorrow',
    why: 'Webhook endpoints accept less than half of the attempts of deliveries.',
    page: 'deliveries-failing',
    figure: { of: 'delivery-failure-rate' },
    above: 50,
    minutes: 15,
  },
]
