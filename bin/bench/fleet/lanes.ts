/** Queues, and the functions that they invoke: the delivery queues as SQS and Lambda serve them. */
import type { DeliveryQueues, Lane } from '../../../shared/delivery/delivery-queues.ts'
import type { DeliveryReference } from '../../../shared/domain/delivery.ts'
import type { Clock } from './clock.ts'

export type LaneSize = { readonly batchSize: number; readonly maxConcurrency: number }
export type LaneSizes = Readonly<Record<Lane, LaneSize>>

/** How long a call of SQS takes, until its messages can be received, and from there to the begin of an invocation. */
const SEND_MS = 8
const DELIVERY_MS = 20
const INVOKE_MS = 5

/** SQS delays messages by whole seconds. */
const delayOf = (ms: number): number => (ms > 0 ? Math.ceil(ms / 1000) * 1000 : 0)

export type SimulatedLane = ReturnType<typeof simulatedLane>

/** One queue and its consumers. An invocation ends with its slowest message, as Lambda does it. */
function simulatedLane(
  clock: Clock,
  { batchSize, maxConcurrency }: LaneSize,
  work: (queued: DeliveryReference) => Promise<void>,
) {
  const state = { delayed: 0, busy: 0, invocations: 0, busyMs: 0, messages: 0, sends: 0 }
  let visible: DeliveryReference[] = []
  let next = 0

  async function invoke(batch: readonly DeliveryReference[]): Promise<void> {
    await clock.sleep(INVOKE_MS)
    const begin = clock.now()
    await Promise.all(batch.map(work))
    state.busyMs += clock.now() - begin
    state.busy--
    poll()
  }

  function poll(): void {
    while (state.busy < maxConcurrency && next < visible.length) {
      const batch = visible.slice(next, next + batchSize)
      next += batch.length
      if (next > 1000 && 2 * next > visible.length) {
        visible = visible.slice(next)
        next = 0
      }
      state.busy++
      state.invocations++
      void invoke(batch)
    }
  }

  function send(messages: readonly DeliveryReference[], delayMs: number): void {
    state.sends++
    state.messages += messages.length
    state.delayed += messages.length
    clock.at(clock.now() + DELIVERY_MS + delayOf(delayMs), () => {
      state.delayed -= messages.length
      visible.push(...messages)
      poll()
    })
  }

  return { state, send, visible: () => visible.length - next }
}

/** Both queues. */
export function simulatedLanes(
  clock: Clock,
  sizes: LaneSizes,
  work: (lane: Lane, queued: DeliveryReference) => Promise<void>,
) {
  const open = (lane: Lane) => simulatedLane(clock, sizes[lane], (queued) => work(lane, queued))
  const lanes: Readonly<Record<Lane, SimulatedLane>> = { quick: open('quick'), slow: open('slow') }
  const queues: DeliveryQueues = {
    push: async (lane, deliveries, delayMs = 0) => {
      await clock.sleep(SEND_MS)
      lanes[lane].send(deliveries, delayMs)
    },
  }
  return { lanes, queues }
}
