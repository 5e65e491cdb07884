import type { ErrorKey } from '../error-catalogue.ts'
import { acceptsIdempotencyKey, BASE_PATH, hasEtag, type Route } from '../route.ts'
import { SECURITY_HEADERS } from '../security-headers.ts'
import type { Examples } from './examples.ts'
import type { Json } from './schemas.ts'

/** A response header, and whether every response that lists it includes it. */
type Header = { readonly description: string; readonly schema: Json; readonly required: boolean }

const HEADERS = {
  'x-request-id': {
    description: 'Identifies the request. Include it when you contact support.',
    schema: { type: 'string', minLength: 1 },
    required: true,
  },
  'cache-control': {
    description: 'Responses contain patient data and must not be cached.',
    schema: { const: 'no-store' },
    required: true,
  },
  'strict-transport-security': {
    description: 'The API is reached by https only.',
    schema: { const: SECURITY_HEADERS['strict-transport-security'] },
    required: true,
  },
  'x-content-type-options': {
    description: 'The content type is the one that is declared.',
    schema: { const: SECURITY_HEADERS['x-content-type-options'] },
    required: true,
  },
  ratelimit: {
    description:
      'Requests left in the current minute (`r`) and seconds until the limit resets (`t`). Absent if the counter is ' +
      'unavailable; requests are then not limited. The `gateway` limit is shared by all callers.',
    schema: { type: 'string', pattern: String.raw`^"(default|gateway)";r=\d+;t=\d+$` },
    required: false,
  },
  'ratelimit-policy': {
    description: 'Requests allowed (`q`) in a window of seconds (`w`).',
    schema: { type: 'string', pattern: String.raw`^"(default|gateway)";q=\d+;w=\d+$` },
    required: false,
  },
  'retry-after': {
    description: 'Seconds to wait before retrying.',
    schema: { type: 'integer', minimum: 1 },
    required: true,
  },
  location: {
    description: 'The path of the created resource, with the prefix of the request, such as a stage.',
    schema: { type: 'string', pattern: `^(/[\\w-]+)*${BASE_PATH}/` },
    required: true,
  },
  etag: {
    description:
      'Identifies this state of the record: a later request can send it as `if-none-match`, or as `if-match` to change the ' +
      'record only in this state.',
    schema: { type: 'string', pattern: '^"[A-Za-z0-9_-]+"$' },
    required: true,
  },
  'idempotent-replayed': {
    description:
      'Present if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    schema: { const: 'true' },
    required: false,
  },
  'x-amzn-remapped-www-authenticate': {
    description: 'The authentication scheme. API Gateway renames `www-authenticate` to this header.',
    schema: { const: 'Developer' },
    required: true,
  },
} as const satisfies Record<string, Header>

type HeaderName = keyof typeof HEADERS

/** Whether the document describes a header for endpoints. */
export const isHeaderName = (name: string): name is HeaderName => Object.hasOwn(HEADERS, name)

/** Not a component, because no endpoint sends it: only the fallback for unmatched requests does. */
const ALLOW_HEADER: Json = {
  description: 'The methods that the path supports.',
  required: true,
  schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' },
}

const refs = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const COMMON_HEADERS = [
  'x-request-id',
  'cache-control',
  'strict-transport-security',
  'x-content-type-options',
] as const
const RATE_LIMIT_HEADERS = ['ratelimit', 'ratelimit-policy'] as const

/** Headers that an error has in addition to the common ones. */
const ERROR_HEADERS: Partial<Record<ErrorKey, readonly HeaderName[]>> = {
  unauthorized: ['x-amzn-remapped-www-authenticate'],
  slot_unavailable: ['idempotent-replayed'],
  idempotency_in_progress: ['retry-after'],
  too_many_rotations: ['retry-after'],
  rate_limited: ['retry-after'],
  daily_message_limit: ['retry-after'],
  recipient_message_limit: ['retry-after'],
  provider_unavailable: ['retry-after'],
  unavailable: ['retry-after'],
}

/** Errors that are returned before a credential is known whose requests could be counted. */
const NOT_RATE_LIMITED: readonly ErrorKey[] = ['unauthorized', 'route_not_found', 'method_not_allowed']

/** The headers of a response with one of these errors, which all have the same status. */
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

/** The headers of a successful response. */
export function successHeaders(route: Pick<Route, 'method' | 'response'>): Json {
  const isCreated = route.response.location !== undefined
  return refs([
    ...COMMON_HEADERS,
    ...RATE_LIMIT_HEADERS,
    ...(isCreated ? (['location'] as const) : []),
    ...(hasEtag(route) ? (['etag'] as const) : []),
    ...(acceptsIdempotencyKey(route) ? (['idempotent-replayed'] as const) : []),
  ])
}

/** The headers of a 304. */
export const notModifiedHeaders = (): Json => refs([...COMMON_HEADERS, ...RATE_LIMIT_HEADERS, 'etag'])

/** Every header, with a recorded value as its example. */
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
