/**
 * Further names of some paths, fields, headers and events, which existing clients of other versions of this API send. The
 * document marks them as deprecated; responses, stored records and deliveries never contain them.
 */
import { keysOf } from '../domain/keys-of.ts'
import type { RecordEventName } from '../domain/webhooks/event.ts'
import type { Route } from './route.ts'

/** Fields of request bodies that concern a webhook endpoint. */
export const WEBHOOK_FIELD_ALIASES = {
  target_url: 'url',
  subscribed_events: 'events',
  signing_secret: 'secret',
} as const

const EVENT_ALIASES = { 'payment.received': 'payment.created' } as const satisfies Record<
  string,
  RecordEventName
>

export const EVENT_ALIAS_NAMES = keysOf(EVENT_ALIASES)

const isAlias = (name: string): name is keyof typeof EVENT_ALIASES => Object.hasOwn(EVENT_ALIASES, name)

/** The event that a name stands for: itself, unless it is an alias. */
export const eventOf = (name: RecordEventName | keyof typeof EVENT_ALIASES): RecordEventName =>
  isAlias(name) ? EVENT_ALIASES[name] : name

/** The name of the idempotency key's header, and its alias. */
export const IDEMPOTENCY_HEADERS = ['idempotency-key', 'x-idempotency-key'] as const

/** From when the second paths are deprecated, and when they are removed. */
const deprecated = { since: '2026-11-23', sunset: '2028-11-23' }

/** Second paths of endpoints. Each is served by the function of its endpoint. */
const PATH_ALIASES = [
  { id: 'list-clinic-doctors', aliasOf: 'list-doctors', path: '/clinic/doctors', deprecated },
  { id: 'test-webhook', aliasOf: 'ping-webhook', path: '/webhooks/{id}/test', deprecated },
  {
    id: 'replay-delivery',
    aliasOf: 'redeliver',
    path: '/webhooks/{id}/deliveries/{delivery_id}/replay',
    deprecated,
  },
] as const satisfies readonly Required<Pick<Route, 'id' | 'aliasOf' | 'path' | 'deprecated'>>[]

export const aliasRoutes = (routes: readonly Route[]): Route[] =>
  PATH_ALIASES.flatMap((alias) =>
    routes.filter(({ id }) => id === alias.aliasOf).map((route) => ({ ...route, ...alias })),
  )
