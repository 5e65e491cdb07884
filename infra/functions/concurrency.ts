/**
 * How functions share the account's concurrency, with `-c accountConcurrency=N`: workers take at most half, lists at most
 * three tenths, and interactive requests have the rest. Without it nothing is reserved, since the limit of a new
 * account is too low for it.
 */
import { isList, type Route } from '../../shared/api/route.ts'
import { WORKERS, type Worker } from '../../shared/runtime/workers.ts'

const MAX_WORKERS = 0.5
/** All lists together, in equal parts. Programs that copy all records of a clinic call them. */
const MAX_LISTS = 0.3
/** The limit of the worker that follows the stream, which would otherwise be invoked once for each shard and key group. */
const MAX_STREAM = 0.1
/** The limit of a worker that is invoked for each line of a log. */
const MAX_SUBSCRIBER = 10

/** The concurrency to reserve for the function of a route; undefined for none. */
export function routeReservation(
  route: Route,
  routes: readonly Route[],
  accountConcurrency: number | undefined,
): number | undefined {
  if (accountConcurrency === undefined || !isList(route)) return undefined
  return Math.max(1, Math.floor((MAX_LISTS * accountConcurrency) / routes.filter(isList).length))
}

/** The concurrency to reserve for a worker; undefined for none. Queues and schedules bound theirs without a reservation. */
export function workerReservation(
  { trigger }: Worker,
  accountConcurrency: number | undefined,
): number | undefined {
  if (accountConcurrency === undefined) return undefined
  if (trigger.type === 'stream') return Math.floor(MAX_STREAM * accountConcurrency)
  return trigger.type === 'subscription' ? MAX_SUBSCRIBER : undefined
}

/** @throws Error if workers can take more than their share */
export function checkConcurrency(accountConcurrency: number | undefined): void {
  if (accountConcurrency === undefined) return
  const needed = WORKERS.map((worker) => maxInvocations(worker, accountConcurrency))
  const sum = needed.reduce((total, count) => total + count, 0)
  if (sum > MAX_WORKERS * accountConcurrency)
    throw new Error(
      `accountConcurrency=${accountConcurrency} is too low: workers can take ${sum} at a time, which is more than half. Raise the account's limit, or deploy without accountConcurrency.`,
    )
}

/** How many invocations of a worker there can be at a time. */
function maxInvocations(worker: Worker, accountConcurrency: number): number {
  const { trigger } = worker
  if (trigger.type === 'queue')
    return Object.values(trigger.maxConcurrency).reduce((sum, count) => sum + count, 0)
  if (trigger.type === 'schedule') return trigger.parts ?? 1
  return workerReservation(worker, accountConcurrency) ?? 0
}
