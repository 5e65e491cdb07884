/**
 * How functions share the account's concurrency, with `-c accountConcurrency=N`: workers take at most half, lists at most
 * three tenths, functions without a credential a fiftieth, and interactive requests have the rest. Without it nothing is reserved,
 * since the limit of a new account is too low for it. With it, the gateway rejects what the functions cannot serve, with a 429.
 */
import { isList, type Route } from '../../shared/api/route.ts'
import { ENDPOINTS, ROUTES } from '../../shared/api/routes.ts'
import { WORKERS, type Worker } from '../../shared/runtime/workers.ts'
import type { Throttle } from '../settings/stages.ts'

const MAX_WORKERS = 0.5
/** All lists together. Programs that copy all records of a clinic call them. */
const MAX_LISTS = 0.3
/** Lists that are called more often than others, by how much more often. */
const LIST_WEIGHTS: Readonly<Record<string, number>> = {
  'list-appointments': 6,
  'list-patients': 5,
  'list-events': 3,
  'list-doctors': 2,
  'list-invoices': 2,
  'list-payments': 2,
  'list-messages': 2,
}
/** The public pages, and the fallback for unmatched requests, each. Anyone can call them. */
const MAX_PUBLIC = 0.01
/** The limit of the worker that follows the stream, which would otherwise be invoked once for each shard and key group. */
const MAX_STREAM = 0.1
/** The limit of a worker that is invoked for each line of a log. */
const MAX_SUBSCRIBER = 10

/** The time of a request on average, with its calls of the table, in seconds: measured locally, not on AWS. */
export const REQUEST_SECONDS = 0.1

/** The gateway admits what the functions can serve if requests take this much longer. */
const SLOWDOWN = 2

/** The endpoint whose function serves a route: its own, or of the route that it is an alias of. */
const endpointOf = ({ id, aliasOf = id }: Route): string => aliasOf

const weightOf = (id: string): number => LIST_WEIGHTS[id] ?? 1

/** The concurrency to reserve for the function of a route; undefined for none. */
export function routeReservation(route: Route, accountConcurrency: number | undefined): number | undefined {
  if (accountConcurrency === undefined || !isList(route)) return undefined
  const weights = ENDPOINTS.filter(isList).map(({ id }) => weightOf(id))
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  return Math.max(1, Math.floor((MAX_LISTS * accountConcurrency * weightOf(endpointOf(route))) / all))
}

/**
 * What the gateway admits to a route with `accountConcurrency`: requests a second, and burst. One half of the concurrency serves the
 * rate, and the other half a burst. A list has its reservation; each other endpoint gets at most half of what nothing reserves.
 */
export function servedLimits(route: Route, accountConcurrency: number): Throttle {
  const ofFunction = routeReservation(route, accountConcurrency) ?? unreserved(accountConcurrency) / 2
  // The gateway counts the requests of each path separately.
  const concurrency = ofFunction / ROUTES.filter((other) => endpointOf(other) === endpointOf(route)).length
  return {
    rate: Math.max(1, Math.floor(concurrency / 2 / (SLOWDOWN * REQUEST_SECONDS))),
    burst: Math.max(1, Math.floor(concurrency / 2)),
  }
}

/** What is left for interactive requests while workers, lists and public pages take all of theirs. */
function unreserved(accountConcurrency: number): number {
  const lists = ENDPOINTS.map((route) => routeReservation(route, accountConcurrency) ?? 0)
  const workers = WORKERS.map((worker) => maxInvocations(worker, accountConcurrency))
  const pages = 2 * (publicReservation(accountConcurrency) ?? 0)
  return [...lists, ...workers].reduce((left, count) => left - count, accountConcurrency - pages)
}

/** The concurrency to reserve for a function that requests reach without a credential; undefined for none. */
export const publicReservation = (accountConcurrency: number | undefined): number | undefined =>
  accountConcurrency === undefined ? undefined : Math.max(1, Math.floor(MAX_PUBLIC * accountConcurrency))

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
