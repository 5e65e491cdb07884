/**
 * Orders the writers of a contended item. The more optimistic writers such an item has, the more often they refuse each
 * other, until almost none succeeds. Therefore a refused writer reserves a turn: a short time slot, assigned by a single
 * update of a queue item, which never conflicts. Without collisions this costs nothing. Nothing is locked: a writer that
 * crashes leaves its turn unused.
 */
import type { Key } from '../keys/key.ts'
import { TTL } from '../keys/key.ts'
import { ConditionFailed, UnavailableError } from './errors.ts'
import { isRetryable, RETRY_BUDGET_MS, SYSTEM_TIMING, type Timing } from './retry-on-conflict.ts'
import type { Table } from './table.ts'

/** A strong read and a transaction, with some margin. */
export const TURN_MS = 32

/** A writer whose last turn was too short asks for a longer one: the store may be slow. */
const MAX_TURN_MS = 250

/** Attempts in one turn: the writer before may need a little longer than its own. */
const ATTEMPTS_PER_TURN = 3

/** A queue item is deleted when no writer has queued for this long. */
const QUEUE_TTL_SECONDS = 24 * 60 * 60

/** Thrown by work that finds other writers waiting for their turns. */
export class Contended extends Error {}

/**
 * Runs work that reads, decides and writes: first immediately, then, whenever it is refused, in a turn of the queue
 * `queue`. `inTurn` is false for the first attempt.
 * @throws UnavailableError when the queue is longer than the retry budget
 */
export async function retryInTurns<T>(
  { table, queue, timing = SYSTEM_TIMING }: { table: Table; queue: Key; timing?: Timing },
  work: (inTurn: boolean) => Promise<T>,
): Promise<T> {
  const deadline = timing.now() + RETRY_BUDGET_MS
  let turnMs = TURN_MS
  for (let attempt = 0; ; attempt++) {
    const startedAt = timing.now()
    try {
      return await work(attempt > 0)
    } catch (error) {
      if (!(error instanceof Contended || isRetryable(error))) throw error
      if (attempt > 0) turnMs = Math.min(MAX_TURN_MS, Math.max(turnMs, Math.ceil(timing.now() - startedAt)))
      const isTurnOver = attempt % ATTEMPTS_PER_TURN === 0
      const wait = isTurnOver
        ? await reserveTurn(table, queue, { turnMs, maxWaitMs: deadline - timing.now() })
        : timing.random() * (TURN_MS / 2)
      if (wait === null || timing.now() > deadline) throw new UnavailableError(error)
      await timing.sleep(wait)
    }
  }
}

type Reservation = { readonly turnMs: number; readonly maxWaitMs: number }

/** Reserves a turn. Returns the milliseconds until it begins; null if that would be later than `maxWaitMs`. */
async function reserveTurn(
  table: Table,
  queue: Key,
  { turnMs, maxWaitMs }: Reservation,
): Promise<number | null> {
  while (maxWaitMs > 0) {
    const now = table.now()
    const end =
      (await joinQueue(table, queue, now, { turnMs, maxWaitMs })) ??
      (await startQueue(table, queue, now, turnMs))
    if (end !== null) return Math.max(0, end - turnMs - table.now())
    const item = await table.get(queue)
    if (((item?.next as number | undefined) ?? 0) > now + maxWaitMs) return null
    // Another writer started the queue in between.
  }
  return null
}

/** The end of a turn after the last reserved one; null when no turn is reserved, or the last is too late. */
const joinQueue = (
  table: Table,
  queue: Key,
  now: number,
  { turnMs, maxWaitMs }: Reservation,
): Promise<number | null> =>
  endOfTurn(table, queue, {
    UpdateExpression: 'SET #next = #next + :turn',
    ConditionExpression: '#next BETWEEN :now AND :latest',
    ExpressionAttributeNames: { '#next': 'next' },
    ExpressionAttributeValues: { ':turn': turnMs, ':now': now, ':latest': now + maxWaitMs },
  })

/** The end of the first turn of an empty queue; null when it is not empty. */
const startQueue = (table: Table, queue: Key, now: number, turnMs: number): Promise<number | null> =>
  endOfTurn(table, queue, {
    UpdateExpression: 'SET #next = :end, #ttl = :ttl',
    ConditionExpression: 'attribute_not_exists(#next) OR #next < :now',
    ExpressionAttributeNames: { '#next': 'next', '#ttl': TTL },
    ExpressionAttributeValues: {
      ':end': now + turnMs,
      ':now': now,
      ':ttl': Math.floor(now / 1000) + QUEUE_TTL_SECONDS,
    },
  })

async function endOfTurn(
  table: Table,
  queue: Key,
  parts: Parameters<Table['update']>[1],
): Promise<number | null> {
  try {
    return (await table.update(queue, { ...parts, ReturnValues: 'UPDATED_NEW' }))?.next as number
  } catch (error) {
    if (error instanceof ConditionFailed) return null
    throw error
  }
}
