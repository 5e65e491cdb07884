/**
 * Orders the writers of a contended item. The more optimistic writers such an item has, the more often they refuse each
 * other, until almost none succeeds. Therefore a refused writer reserves a turn: a place in a queue, assigned by a single
 * update of a queue item, which never conflicts. Without collisions this costs nothing. Nothing is locked: a writer that
 * crashes leaves its turn unused.
 *
 * Places are milliseconds of turns since the queue exists, not times: the clocks of machines differ. The writer that uses a turn
 * stores its end with its own write, the queue's progress, and a writer waits as long as the turns between the progress
 * and its own take.
 */
import type { Key } from '../keys/key.ts'
import { ConditionFailed, UnavailableError } from './errors.ts'
import { isRetryable, retryDeadline, SYSTEM_TIMING, type Timing } from './retry-on-conflict.ts'
import type { Table } from './table.ts'

/** A strong read and a transaction, with some margin. */
export const TURN_MS = 32

/**
 * How many times its length a turn may take. A longer queue is not joined: its last writers would give up, and the turns
 * that they leave unused delay those behind them.
 */
const SLOWEST_PACE = 3

/** Attempts in one turn: a writer that tries without a turn may be faster. */
const ATTEMPTS_PER_TURN = 3

/** The longest wait between two reads of the progress of a writer whose turn is next. */
const LAST_WAIT_MS = 8

/** After so long without progress, the turns before are considered unused. Later turns wait longer, to keep the order. */
const PATIENCE_MS = 128

/** How long a queue that is too long is watched, to see whether its turns are still used. */
const STANDSTILL_MS = 1000

/** How often a writer that has to wait for long reads the progress. */
const WATCH_MS = 500

/** Thrown by work that finds other writers waiting for their turns, or in their turns. */
export class Contended extends Error {}

/** A place in the queue. */
export type Turn = {
  /** To be stored as the queue's progress by the write that uses the turn. */
  readonly end: number
  /** Whether other writers were refused, or wait too. */
  readonly isContended: boolean
  /** Whether the turns before have been used, according to the progress that was read, or have not been used in time. */
  readonly hasBegun: (progress: number) => boolean
}

export type Queue = {
  readonly table: Table
  readonly key: Key
  /** Reads the end of the last turn that was used; 0 if none was. */
  readonly readProgress: () => Promise<number>
  readonly timing?: Timing
}

/**
 * Runs work that reads, decides and writes: first immediately, with null, then, whenever it is refused, in a turn. Work in
 * a turn that has not begun is to throw {@link Contended}.
 * @throws UnavailableError when the queue is too long for the retry budget
 */
export async function retryInTurns<T>(queue: Queue, work: (turn: Turn | null) => Promise<T>): Promise<T> {
  const { timing = SYSTEM_TIMING } = queue
  const deadline = retryDeadline(timing)
  let turn: WaitingTurn | null = null
  for (let refusals = 0; ; ) {
    try {
      return await work(turn)
    } catch (error) {
      const isWaiting = error instanceof Contended
      if (!isWaiting && !isRetryable(error)) throw error
      if (!turn || (!isWaiting && ++refusals % ATTEMPTS_PER_TURN === 0)) {
        const reserved = await reserveTurn(queue, timing, deadline)
        if (!reserved) throw new UnavailableError(error)
        turn = waitingTurn(reserved, timing, !isWaiting)
      }
      const wait = Math.max(Math.min(turn.msUntilNext(), WATCH_MS), timing.random() * LAST_WAIT_MS)
      if (timing.now() + wait > deadline) throw new UnavailableError(error)
      await timing.sleep(wait)
    }
  }
}

/** `msUntilNext` is the estimated time until the turn is the next one. */
type WaitingTurn = Turn & { readonly msUntilNext: () => number }

/** A turn with the progress of the queue that its writer has seen. */
function waitingTurn(
  { end, progress }: Reservation,
  { now, random }: Timing,
  isContended: boolean,
): WaitingTurn {
  const start = end - TURN_MS
  // After a queue stood still for so long, its writers have given up. At random, so that those who wait do not collide.
  const standstill = STANDSTILL_MS * (1 + random())
  let seen = progress
  let seenAt = now()
  return {
    end,
    isContended: isContended || start > progress,
    msUntilNext: () => start - seen - TURN_MS,
    hasBegun: (current) => {
      if (current > seen) {
        seen = current
        seenAt = now()
      }
      return seen >= start || now() - seenAt > Math.min(PATIENCE_MS + start - seen, standstill)
    },
  }
}

/** The turn that ends at `end`, and the progress of the queue when it was reserved. */
type Reservation = { readonly end: number; readonly progress: number }

/** Reserves a turn that begins well before the deadline; null when the queue is too long. */
async function reserveTurn(
  { table, key, readProgress }: Queue,
  timing: Timing,
  deadline: number,
): Promise<Reservation | null> {
  for (;;) {
    const progress = await readProgress()
    const latest = progress + Math.floor((deadline - timing.now()) / SLOWEST_PACE)
    if (latest < progress) return null
    const end = (await joinQueue(table, key, progress, latest)) ?? (await startQueue(table, key, progress))
    if (end !== null) return { end, progress }
    const last = ((await table.get(key))?.next as number | undefined) ?? 0
    // Otherwise another writer started the queue in between.
    if (last > latest) {
      const watched = STANDSTILL_MS * (0.5 + timing.random() / 2)
      await timing.sleep(Math.max(0, Math.min(deadline - timing.now(), watched)))
      // Turns whose writers have all given up delay no other writer.
      return (await readProgress()) === progress ? { end: last, progress: last } : null
    }
  }
}

/** The end of a turn after the last reserved one; null when no turn is reserved, or the last is too late. */
const joinQueue = (table: Table, queue: Key, progress: number, latest: number): Promise<number | null> =>
  endOfTurn(table, queue, {
    UpdateExpression: 'SET #next = #next + :turn',
    ConditionExpression: '#next BETWEEN :progress AND :latest',
    ExpressionAttributeNames: { '#next': 'next' },
    ExpressionAttributeValues: { ':turn': TURN_MS, ':progress': progress, ':latest': latest },
  })

/** The end of the first turn of a new queue; null when the queue exists. */
const startQueue = (table: Table, queue: Key, progress: number): Promise<number | null> =>
  endOfTurn(table, queue, {
    UpdateExpression: 'SET #next = :end',
    ConditionExpression: 'attribute_not_exists(#next) OR #next < :progress',
    ExpressionAttributeNames: { '#next': 'next' },
    ExpressionAttributeValues: { ':end': progress + TURN_MS, ':progress': progress },
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
