/** Queues with dead-letter queues, by their output names. */
export const QUEUES = {
  emails: { queue: 'EmailQueueUrl', deadLetters: 'DeadEmailQueueUrl' },
  feedback: { queue: 'FeedbackQueueUrl', deadLetters: 'DeadFeedbackQueueUrl' },
  deliveries: { queue: 'DeliveryQueueUrl', deadLetters: 'DeadDeliveryQueueUrl' },
  'slow-deliveries': { queue: 'SlowDeliveryQueueUrl', deadLetters: 'DeadSlowDeliveryQueueUrl' },
  'fan-outs': { queue: 'FanOutQueueUrl', deadLetters: 'DeadFanOutQueueUrl' },
}
type QueueName = keyof typeof QUEUES
export const QUEUE_NAMES = Object.keys(QUEUES) as [QueueName, ...QueueName[]]

/** Positions of the stream that the fan-out failed at. No queue takes them back: the sweep of events processes what they were about. */
const FAILED_FAN_OUTS = 'failed-fan-outs'

/** Queues of dead letters, by the name of the queue that they come from. */
export type DeadLetterQueue = QueueName | typeof FAILED_FAN_OUTS
export const DEAD_LETTER_QUEUES = [...QUEUE_NAMES, FAILED_FAN_OUTS] as const

/** The output with the URL of a queue of dead letters. */
export const deadLettersOutput = (name: DeadLetterQueue): string =>
  name === FAILED_FAN_OUTS ? 'FailedFanOutQueueUrl' : QUEUES[name].deadLetters

/** The output with the URL of the queue that takes dead letters back; null if none does. */
export const sourceOutput = (name: DeadLetterQueue): string | null =>
  name === FAILED_FAN_OUTS ? null : QUEUES[name].queue
