/** A metric of a queue at a time; null for a metric that is not played. */
export type QueueFigures = (queue: string, metric: string, at: number) => number | null

type Inspected = {
  readonly name: string
  readonly messages: {
    readonly ready: readonly { readonly sentTimestamp: number }[]
    readonly delayed: readonly { readonly sentTimestamp: number }[]
    readonly inflight: readonly { readonly message: { readonly sentTimestamp: number } }[]
  }
}

/** Reads the queues of the engine as they are, without receiving a message. */
export async function readQueueFigures(endpoint: string): Promise<QueueFigures> {
  const get = async <T>(path: string): Promise<T> =>
    (await fetch(`${endpoint}/_fauxqs/queues${path}`)).json() as Promise<T>
  const names = (await get<{ name: string }[]>('')).map(({ name }) => name)
  const inspected = await Promise.all(names.map((name) => get<Inspected>(`/${encodeURIComponent(name)}`)))
  const queues = new Map(inspected.map(({ name, messages }) => [name, messages]))
  return (queue, metric, at) => {
    const messages = queues.get(queue)
    if (!messages) return null
    if (metric === 'ApproximateNumberOfMessagesVisible') return messages.ready.length
    if (metric !== 'ApproximateAgeOfOldestMessage') return null
    const sent = [
      ...messages.ready,
      ...messages.delayed,
      ...messages.inflight.map(({ message }) => message),
    ].map(({ sentTimestamp }) => sentTimestamp)
    return sent.length === 0 ? 0 : Math.max(0, at - Math.min(...sent)) / 1000
  }
}
