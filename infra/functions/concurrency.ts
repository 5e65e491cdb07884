/**
 * How functions share the account's concurrency, with `-c accountConcurrency=N`: workers take at most half, lists at most
 * three tenths, public pages three hundredths, and interactive requests have the rest. Without it nothing is reserved,
 * since the limit of a new account is too low for it.
 *
 * Everything that the gateway admits at the same time fits into these shares, so what is too much is rejected with a 429.
 */
import { isList, type Route } from '../../shared/api/route.ts'
import { ENDPOINTS, ROUTES } from '../../shared/api/routes.ts'
import { WORKERS, type Worker } from '../../shared/runtime/workers.ts'
import type { Throttle } from '../settings/stages.ts'

const MAX_WORKERS = 0.5
/** All lists together. Programs that copy all records of a clinic call them. */
const MAX_LISTS = 0.3
/** Endpoints that are called more often than others, by how much more often: an estimate. Lists share with lists only. */
const WEIGHTS: Readonly<Record<string, number>> = {
  'list-appointments': 6,
  'list-patients': 5,
  'list-events': 3,
  'list-doctors': 2,
  'list-invoices': 2,
  'list-payments': 2,
  'list-messages': 2,
  'get-availability': 8,
  'create-appointment': 4,
  'get-appointment': 4,
  'get-patient': 4,
  'update-appointment': 2,
  'cancel-appointment': 2,
  'confirm-appointment': 2,
  'create-patient': 2,
  'update-patient': 2,
  'send-message': 2,
}
/** The public pages. Anyone can call them. */
const MAX_PUBLIC = 0.03
/** The limit of the worker that follows the stream, which would otherwise be invoked once for each shard and key group. */
const MAX_STREAM = 0.1
/** The limit of a worker that is invoked for each line of a log. */
const MAX_SUBSCRIBER = 10

/** The time of a request on average, with its calls of the table, in seconds: measured locally, not on AWS. */
export const REQUEST_SECONDS = 0.1

/** The gateway admits what the functions can serve if requests take this long: twice as long as expected. */
export const SLOW_REQUEST_SECONDS = 2 * REQUEST_SECONDS

/** The endpoint whose function serves a route: its own, or of the route that it is an alias of. */
const endpointOf = ({ id, aliasOf = id }: Route): string => aliasOf

const weightOf = (id: string): number => WEIGHTS[id] ?? 1

/** The endpoints that share with an endpoint. */
const groupOf = (route: Route): Route[] => ENDPOINTS.filter((other) => isList(other) === isList(route))

/** The part of what a group has that is for the function of a route. */
function partOf(route: Route): number {
  const all = groupOf(route).reduce((sum, { id }) => sum + weightOf(id), 0)
  return weightOf(endpointOf(route)) / all
}

const listShare = (route: Route, accountConcurrency: number): number =>
  Math.max(1, Math.floor(MAX_LISTS * accountConcurrency * partOf(route)))

/** The concurrency to reserve for the function of a route; undefined for none. */
export const routeReservation = (route: Route, accountConcurrency: number | undefined): number | undefined =>
  accountConcurrency === undefined || !isList(route) ? undefined : listShare(route, accountConcurrency)

/** What the gateway admits to a route if functions share so much concurrency. The gateway counts each path separately. */
export function servedLimits(route: Route, accountConcurrency: number): Throttle {
  const ofFunction = isList(route)
    ? listShare(route, accountConcurrency)
    : interactiveConcurrency(accountConcurrency) * partOf(route)
  return admissible(ofFunction / ROUTES.filter((other) => endpointOf(other) === endpointOf(route)).length)
}

/** What the gateway admits to one of the public pages, which has this part of what all have. */
export const pageLimits = (part: number, accountConcurrency: number): Throttle =>
  admissible(part * publicShare(accountConcurrency))

/** Requests a second and a burst that so many functions serve at the same time: one half of them the burst. */
function admissible(functions: number): Throttle {
  const burst = Math.max(1, Math.floor(functions / 2))
  return { rate: Math.max(1, Math.floor((functions - burst) / SLOW_REQUEST_SECONDS)), burst }
}

/** What is left for interactive requests while workers, lists and public pages take all of theirs. */
export function interactiveConcurrency(accountConcurrency: number): number {
  const lists = ENDPOINTS.filter(isList).map((route) => listShare(route, accountConcurrency))
  const workers = WORKERS.map((worker) => maxInvocations(worker, accountConcurrency))
  return [...lists, ...workers].reduce(
    (left, count) => left - count,
    accountConcurrency - publicShare(accountConcurrency),
  )
}

const publicShare = (accountConcurrency: number): number =>
  Math.max(1, Math.floor(MAX_PUBLIC * accountConcurrency))

/** The concurrency to reserve for the function of the public pages, which need no credential; undefined for none. */
export const publicReservation = (accountConcurrency: number | undefined): number | undefined =>
  accountConcurrency === undefined ? undefined : publicShare(accountConcurrency)

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
