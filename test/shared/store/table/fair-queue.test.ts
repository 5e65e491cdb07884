import { setImmediate } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { patientQueueKey } from '../../../../shared/store/keys/patients.ts'
import { ConditionFailed, UnavailableError } from '../../../../shared/store/table/errors.ts'
import {
  Contended,
  type Queue,
  retryInQueue,
  TICKET_MS,
  type Ticket,
} from '../../../../shared/store/table/fair-queue.ts'
import { RETRY_BUDGET_MS } from '../../../../shared/store/table/retry-on-conflict.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { freshSdkTable } from '../../../support/table.ts'
import { virtualTiming } from '../../../support/virtual-timing.ts'

let table: Table
beforeAll(async () => {
  ;({ table } = await freshSdkTable())
})

/** A queue on which `progress` is what its writers have stored. */
function newQueue() {
  const state = { progress: 0 }
  const timing = virtualTiming()
  const queue: Queue = {
    table,
    key: patientQueueKey(newUuid() as ClinicId),
    readProgress: async () => state.progress,
    timing,
  }
  return { ...queue, timing, state }
}
const reserved = async ({ key }: Queue): Promise<number | undefined> =>
  (await table.get(key))?.next as number | undefined

/** Is rejected once, and then uses its ticket when it is the next. */
function rejectedOnce({ state }: ReturnType<typeof newQueue>) {
  let runs = 0
  return async (ticket: Ticket | null): Promise<number> => {
    if (runs++ === 0 || !ticket) throw new ConditionFailed([0])
    if (!ticket.isNext(state.progress)) throw new Contended()
    state.progress = Math.max(state.progress, ticket.end)
    return ticket.end
  }
}

describe('writers of a contended item', () => {
  it('take no ticket while they are not rejected', async () => {
    const queue = newQueue()
    expect(await retryInQueue(queue, async (ticket) => ticket)).toBeNull()
    expect(await reserved(queue)).toBeUndefined()
  })

  it('get tickets one after the other, none of them twice, and use them in order', async () => {
    const queue = newQueue()
    const used: number[] = []
    // No time passes, so that no writer considers a ticket unused.
    const timing = { now: () => 0, sleep: () => setImmediate(), random: () => 0 }
    const writers = Array.from({ length: 20 }, async () =>
      used.push(await retryInQueue({ ...queue, timing }, rejectedOnce(queue))),
    )
    await Promise.all(writers)
    expect(used).toEqual(Array.from({ length: 20 }, (_, index) => (index + 1) * TICKET_MS))
  })

  it('take a ticket at once when they see that others do', async () => {
    const work = async (ticket: Ticket | null) => {
      if (!ticket) throw new Contended()
      return ticket.isContended
    }
    expect(await retryInQueue(newQueue(), work)).toBe(false)
  })

  it('wait only for the tickets that have not been used', async () => {
    const queue = newQueue()
    const { state } = queue
    await table.transact([table.putWrite({ ...queue.key, next: 1_000_000 })])
    state.progress = 1_000_000 - 2 * TICKET_MS
    const work = rejectedOnce(queue)
    const retried = retryInQueue(queue, async (ticket) => {
      // The two writers before finish while this one waits.
      if (ticket) state.progress = Math.max(state.progress, 1_000_000)
      return work(ticket)
    })
    expect(await retried).toBe(1_000_000 + TICKET_MS)
    expect(queue.timing.now()).toBeLessThan(3 * TICKET_MS)
  })

  it('use their tickets although those before remain unused', async () => {
    const queue = newQueue()
    await table.transact([table.putWrite({ ...queue.key, next: 5 * TICKET_MS })])
    expect(await retryInQueue(queue, rejectedOnce(queue))).toBe(6 * TICKET_MS)
    expect(queue.timing.now()).toBeLessThan(1000)
  })

  it.each([1000, 2000, 2300])(
    'use their tickets soon although %d ms of tickets before remain unused',
    async (left) => {
      const queue = newQueue()
      await table.transact([table.putWrite({ ...queue.key, next: left })])
      expect(await retryInQueue(queue, rejectedOnce(queue))).toBe(left + TICKET_MS)
      expect(queue.timing.now()).toBeLessThan(2500)
    },
  )

  it('start over after the last ticket that was used when the queue does not exist', async () => {
    const queue = newQueue()
    queue.state.progress = 5000
    expect(await retryInQueue(queue, rejectedOnce(queue))).toBe(5000 + TICKET_MS)
    expect(await reserved(queue)).toBe(5000 + TICKET_MS)
  })

  it('are rejected, without a ticket, when the queue is longer than the retry budget and advances', async () => {
    const queue = newQueue()
    await table.transact([table.putWrite({ ...queue.key, next: 3_600_000 })])
    const readProgress = async () => queue.state.progress++
    await expect(retryInQueue({ ...queue, readProgress }, rejectedOnce(queue))).rejects.toThrow(
      UnavailableError,
    )
    expect(await reserved(queue)).toBe(3_600_000)
  })

  it.each([
    ['join a queue that they can wait for even at a third of its usual speed', 0.32, TICKET_MS],
    ['do not join a queue that they could not wait for at a third of its usual speed', 0.34, 0],
  ])('%s', async (_, share, added) => {
    const queue = newQueue()
    const next = Math.floor(RETRY_BUDGET_MS * share)
    await table.transact([table.putWrite({ ...queue.key, next })])
    const readProgress = async () => queue.state.progress++
    await retryInQueue({ ...queue, readProgress }, rejectedOnce(queue)).catch(() => undefined)
    expect(await reserved(queue)).toBe(next + added)
  })

  it('pass a queue that is longer than the retry budget and does not advance', async () => {
    const queue = newQueue()
    await table.transact([table.putWrite({ ...queue.key, next: 3_600_000 })])
    expect(await retryInQueue(queue, rejectedOnce(queue))).toBe(3_600_000)
    expect(await retryInQueue(queue, rejectedOnce(queue))).toBe(3_600_000 + TICKET_MS)
  })

  it('stop when the retry budget is spent', async () => {
    const queue = newQueue()
    const rejected = async () => {
      throw new ConditionFailed([0])
    }
    await expect(retryInQueue(queue, rejected)).rejects.toThrow(UnavailableError)
    expect(queue.timing.now()).toBeLessThanOrEqual(RETRY_BUDGET_MS)
  })

  it('throw every other error unchanged', async () => {
    const failing = async () => {
      throw new RangeError('not a rejection')
    }
    await expect(retryInQueue(newQueue(), failing)).rejects.toThrow('not a rejection')
  })
})
