/**
 * The fairness of SQS standard queues to groups of messages, which the engine lacks: while one group has most of the
 * messages that are being processed, those of other groups are received first.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
 */
import { AsyncLocalStorage } from 'node:async_hooks'

type Message = { readonly body: string }

/** What is used of the engine's queue. Messages in flight have been received and not deleted. */
type EngineQueue = {
  messages: Message[]
  readonly inflightMessages: ReadonlyMap<string, { readonly message: Message }>
  readonly isFifo: () => boolean
  enqueue: (message: Message) => void
  dequeue: (...args: unknown[]) => unknown
}

export type EngineStore = { createQueue: (...args: unknown[]) => EngineQueue }

/** A message as it is sent: the whole input of SendMessage, or an entry of SendMessageBatch. */
type Sent = { readonly MessageBody?: string; readonly MessageGroupId?: string }

/** A group is noisy from this many messages in flight on, if it has more than half of them. AWS names no numbers. */
const MIN_IN_FLIGHT = 5

const sending = new AsyncLocalStorage<readonly Sent[]>()

/** Runs the engine's handling of a request. Its queues learn the groups of the messages it sends. */
export function withGroups<T>(input: unknown, handle: () => T): T {
  const { Entries, ...single } = (input ?? {}) as Sent & { readonly Entries?: readonly Sent[] }
  return sending.run(Entries ?? [single], handle)
}

/** Makes the queues that a store creates from now on fair. */
export function makeFair(store: EngineStore): void {
  const { createQueue } = store
  store.createQueue = (...args) => {
    const queue = createQueue.apply(store, args)
    if (!queue.isFifo()) distribute(queue)
    return queue
  }
}

function distribute(queue: EngineQueue): void {
  const groups = new WeakMap<Message, string>()
  const enqueue = queue.enqueue.bind(queue)
  const dequeue = queue.dequeue.bind(queue)
  queue.enqueue = (message) => {
    const sent = sending.getStore()?.find(({ MessageBody }) => MessageBody === message.body)
    if (sent?.MessageGroupId !== undefined) groups.set(message, sent.MessageGroupId)
    enqueue(message)
  }
  queue.dequeue = (...args) => {
    const noisy = noisyGroup(queue, groups)
    if (noisy !== undefined) {
      const isNoisy = (message: Message) => groups.get(message) === noisy
      queue.messages = [
        ...queue.messages.filter((message) => !isNoisy(message)),
        ...queue.messages.filter(isNoisy),
      ]
    }
    return dequeue(...args)
  }
}

function noisyGroup({ inflightMessages }: EngineQueue, groups: WeakMap<Message, string>): string | undefined {
  const counts = new Map<string | undefined, number>()
  for (const { message } of inflightMessages.values()) {
    const group = groups.get(message)
    counts.set(group, (counts.get(group) ?? 0) + 1)
  }
  const [group, count = 0] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? []
  return count >= MIN_IN_FLIGHT && count > inflightMessages.size / 2 ? group : undefined
}
