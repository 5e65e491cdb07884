/**
 * Orders the writers of a contended item. The more optimistic writers such an item has, the more often they conflict
 * with each other, until almost none succeeds. Therefore a rejected writer takes a ticket for a fair queue, with a
 * single update of a queue item, which never conflicts. Without collisions this costs nothing. Nothing is locked: a
 * writer that crashes leaves its ticket unused.
 *
 * Tickets are numbered in milliseconds of queue time, not of a clock: the clocks of machines differ. The writer that
 * uses a ticket stores its end with its own write: the queue's progress. A writer waits as long as the tickets between the
 * progress and its own take.
 */
import type { Key } from '../keys/key.ts'
import { ConditionFailed, UnavailableError } from './errors.ts'
import { isRetryable, retryDeadline, SYSTEM_TIMING, type Timing } from './retry-on-conflict.ts'
import type { Table } from './table.ts'

/** A strong read and a transaction, with some margin. */
export const TICKET_MS = 32

/**
 * How many times its usual time a ticket may take. A longer queue is not joined: its last writers would give up, and the
 * tickets that they leave unused delay the later ones.
 */
const MAX_SLOWDOWN = 3

/** Attempts with one ticket: a writer that tries without a ticket may be faster. */
const ATTEMPTS_PER_TICKET = 3

/** The longest wait between two reads of the progress of a writer whose ticket is next. */
const LAST_WAIT_MS = 8

/** After so long without progress, the tickets before are considered unused. Later tickets wait longer, to keep the order. */
const STALL_TIMEOUT_MS = 128

/** How long a queue that is too long is watched, to see whether its tickets are still used. */
const ABANDONED_MS = 1000

/** How often a writer that has to wait for long reads the progress. */
const WATCH_MS = 500

/** Thrown by work that finds other writers in the queue. */
export class Contended extends Error {}

/** A position in the queue, which one write uses. */
export type Ticket = {
  /** The write that uses the ticket stores this as the queue's progress. */
  readonly end: number
  /** Whether other writers were rejected, or wait too. */
  readonly isContended: boolean
  /** Whether the ticket is the next one: those before have been used, according to the progress that was read, or not in time. */
  readonly isNext: (progress: number) => boolean
}

export type Queue = {
  readonly table: Table
  readonly key: Key
  /** Reads the end of the last ticket that was used; 0 if none was. */
  readonly readProgress: () => Promise<number>
  readonly timing?: Timing
}

/**
 * Runs work that reads, decides and writes: first immediately, with null, then, whenever it is rejected, with a ticket. Work
 * with a ticket that is not the next one throws {@link Contended}.
 * @throws UnavailableError when the queue is too long for the retry budget
 */
export async function retryInQueue<T>(queue: Queue, work: (ticket: Ticket | null) => Promise<T>): Promise<T> {
  const { timing = SYSTEM_TIMING } = queue
  const deadline = retryDeadline(timing)
  let ticket: WaitingTicket | null = null
  for (let rejections = 0; ; ) {
    try {
      return await work(ticket)
    } catch (error) {
      const isWaiting = error instanceof Contended
      if (!isWaiting && !isRetryable(error)) throw error
      if (!ticket || (!isWaiting && ++rejections % ATTEMPTS_PER_TICKET === 0)) {
        const reserved = await takeTicket(queue, timing, deadline)
        if (!reserved) throw new UnavailableError(error)
        ticket = waitingTicket(reserved, timing, !isWaiting)
      }
      const wait = Math.max(Math.min(ticket.msUntilNext(), WATCH_MS), timing.random() * LAST_WAIT_MS)
      if (timing.now() + wait > deadline) throw new UnavailableError(error)
      await timing.sleep(wait)
    }
  }
}

/** `msUntilNext` is the estimated time until the ticket is the next one. */
type WaitingTicket = Ticket & { readonly msUntilNext: () => number }

/** A ticket with the progress of the queue that its writer has seen. */
function waitingTicket(
  { end, progress }: Reservation,
  { now, random }: Timing,
  isContended: boolean,
): WaitingTicket {
  const start = end - TICKET_MS
  // After a queue stood still for so long, its writers have given up. The time is random, so that waiting
  // writers do not collide.
  const standstill = ABANDONED_MS * (1 + random())
  let seen = progress
  let seenAt = now()
  return {
    end,
    isContended: isContended || start > progress,
    msUntilNext: () => start - seen - TICKET_MS,
    isNext: (current) => {
      if (current > seen) {
        seen = current
        seenAt = now()
      }
      return seen >= start || now() - seenAt > Math.min(STALL_TIMEOUT_MS + start - seen, standstill)
    },
  }
}

/** The ticket that ends at `end`, and the progress of the queue when it was reserved. */
type Reservation = { readonly end: number; readonly progress: number }

/** Takes a ticket that is used well before the deadline; null when the queue is too long. */
async function takeTicket(
  { table, key, readProgress }: Queue,
  timing: Timing,
  deadline: number,
): Promise<Reservation | null> {
  for (;;) {
    const progress = await readProgress()
    const latest = progress + Math.floor((deadline - timing.now()) / MAX_SLOWDOWN)
    if (latest < progress) return null
    const end = (await joinQueue(table, key, progress, latest)) ?? (await startQueue(table, key, progress))
    if (end !== null) return { end, progress }
    const last = ((await table.get(key))?.next as number | undefined) ?? 0
    // An earlier end means that another writer has started the queue in between.
    if (last > latest) {
      const watched = ABANDONED_MS * (0.5 + timing.random() / 2)
      await timing.sleep(Math.max(0, Math.min(deadline - timing.now(), watched)))
      // Tickets whose writers have all given up delay no other writer.
      return (await readProgress()) === progress ? { end: last, progress: last } : null
    }
  }
}

/** The end of a ticket after the last one taken; null when none is taken, or the last is too late. */
const joinQueue = (table: Table, queue: Key, progress: number, latest: number): Promise<number | null> =>
  takeEnd(table, queue, {
    UpdateExpression: 'SET #next = #next + :ticket',
    ConditionExpression: '#next BETWEEN :progress AND :latest',
    ExpressionAttributeNames: { '#next': 'next' },
    ExpressionAttributeValues: { ':ticket': TICKET_MS, ':progress': progress, ':latest': latest },
  })

/** The end of the first ticket of a new queue; null when the queue exists. */
const startQueue = (table: Table, queue: Key, progress: number): Promise<number | null> =>
  takeEnd(table, queue, {
    UpdateExpression: 'SET #next = :end',
    ConditionExpression: 'attribute_not_exists(#next) OR #next < :progress',
    ExpressionAttributeNames: { '#next': 'next' },
    ExpressionAttributeValues: { ':end': progress + TICKET_MS, ':progress': progress },
  })

async function takeEnd(
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
