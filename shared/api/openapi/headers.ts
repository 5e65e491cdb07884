import type { ErrorKey } from '../errors.ts'
import { acceptsIdempotencyKey, BASE_PATH, type Route } from '../route.ts'
import type { Examples } from './examples.ts'
import type { Json } from './schemas.ts'

/** A response header, and whether every answer that lists it has it. */
type Header = { readonly description: string; readonly schema: Json; readonly required: boolean }

const HEADERS = {
  'x-request-id': {
    description: 'Quote it when you ask for help.',
    schema: { type: 'string', minLength: 1 },
    required: true,
  },
  'cache-control': {
    description: 'Answers hold data of patients.',
    schema: { const: 'no-store' },
    required: true,
  },
  ratelimit: {
    description:
      'Requests left (`r`) and seconds until there are more (`t`). Absent when the counter fails: then all requests pass. ' +
      'The `gateway` is for all callers together.',
    schema: { type: 'string', pattern: String.raw`^"(default|gateway)";r=\d+;t=\d+$` },
    required: false,
  },
  'ratelimit-policy': {
    description: 'Requests (`q`) in a window of seconds (`w`).',
    schema: { type: 'string', pattern: String.raw`^"(default|gateway)";q=\d+;w=\d+$` },
    required: false,
  },
  'retry-after': {
    description: 'Seconds to wait before the next try.',
    schema: { type: 'integer', minimum: 1 },
    required: true,
  },
  location: {
    description: 'The path of what was made, from the base path on.',
    schema: { type: 'string', pattern: `^${BASE_PATH}/` },
    required: true,
  },
  'idempotent-replayed': {
    description: 'The answer was given before, to a request with the same `Idempotency-Key`.',
    schema: { const: 'true' },
    required: false,
  },
  'x-amzn-remapped-www-authenticate': {
    description: 'The scheme of `Authorization`. REST APIs of API Gateway rename `www-authenticate` so.',
    schema: { const: 'Developer' },
    required: true,
  },
} as const satisfies Record<string, Header>

type HeaderName = keyof typeof HEADERS

/** Whether a header is one that the document describes for endpoints. */
export const isHeaderName = (name: string): name is HeaderName => Object.hasOwn(HEADERS, name)

/** Of what is no endpoint's answer, and so not among the components. */
const ALLOW_HEADER: Json = {
  description: 'The methods of the path.',
  required: true,
  schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' },
}

const refs = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const COMMON_HEADERS = ['x-request-id', 'cache-control'] as const
const RATE_LIMIT_HEADERS = ['ratelimit', 'ratelimit-policy'] as const

/** What an error says in its headers, beyond what all say. */
const ERROR_HEADERS: Partial<Record<ErrorKey, readonly HeaderName[]>> = {
  unauthorized: ['x-amzn-remapped-www-authenticate'],
  slot_unavailable: ['idempotent-replayed'],
  idempotency_in_progress: ['retry-after'],
  rate_limited: ['retry-after'],
  daily_message_limit: ['retry-after'],
  unavailable: ['retry-after'],
}

/** Told before anybody is known whose requests could be counted. */
const NOT_RATE_LIMITED: readonly ErrorKey[] = ['unauthorized', 'route_not_found', 'method_not_allowed']

/** Headers of an answer with one of these errors, all of one status. */
export function headersOf(keys: readonly ErrorKey[]): Json {
  const isRateLimited = keys.some((key) => !NOT_RATE_LIMITED.includes(key))
  return {
    ...refs([
      ...COMMON_HEADERS,
      ...(isRateLimited ? RATE_LIMIT_HEADERS : []),
      ...keys.flatMap((key) => ERROR_HEADERS[key] ?? []),
    ]),
    ...(keys.includes('method_not_allowed') && { allow: ALLOW_HEADER }),
  }
}

/** Headers of a success. */
export function successHeaders(route: Pick<Route, 'method' | 'response'>): Json {
  const isCreated = route.response.location !== undefined
  return refs([
    ...COMMON_HEADERS,
    ...RATE_LIMIT_HEADERS,
    ...(isCreated ? (['location'] as const) : []),
    ...(acceptsIdempotencyKey(route) ? (['idempotent-replayed'] as const) : []),
  ])
}

/** Every header, with a value of it that was seen. */
export const headerComponents = ({ headers }: Pick<Examples, 'headers'>): Json =>
  Object.fromEntries(
    Object.entries(HEADERS).map(([name, { schema, ...header }]) => [
      name,
      {
        ...header,
        schema,
        ...(headers[name] !== undefined && { example: exampleOf(schema, headers[name]) }),
      },
    ]),
  )

const exampleOf = (schema: Json, value: string): string | number =>
  schema.type === 'integer' ? Number(value) : value
