import type { ErrorKey } from '../api/error-catalogue.ts'
import { acceptsIdempotencyKey, BASE_PATH, hasEtag, type Route } from '../api/route.ts'
import { SECURITY_HEADERS } from '../api/security-headers.ts'
import { webhook } from './example-records.ts'
import type { Json } from './schemas.ts'

/** A response header, and whether every response that lists it includes it. */
type Header = {
  readonly description: string
  readonly required: boolean
  readonly schema: Json
  readonly example?: string | number
}

/** Every header that endpoints send. Those with one value need no example. */
export const HEADERS = {
  'x-request-id': {
    description: 'Identifies the request. Include it when you contact support.',
    required: true,
    schema: { type: 'string', minLength: 1 },
    example: 'JKJaXmPLvHcESHA=',
  },
  'cache-control': {
    description: 'Responses contain patient data and must not be cached.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  'strict-transport-security': {
    description: 'The API is reached by https only.',
    required: true,
    schema: { type: 'string', const: SECURITY_HEADERS['strict-transport-security'] },
  },
  'x-content-type-options': {
    description: 'The content type is the one that is declared.',
    required: true,
    schema: { type: 'string', const: SECURITY_HEADERS['x-content-type-options'] },
  },
  ratelimit: {
    description:
      'Requests left in the current minute (`r`) and seconds until the limit resets (`t`). Absent if the counter is ' +
      'unavailable; requests are then not limited. The `gateway` limit is shared by all callers.',
    required: false,
    schema: { type: 'string', pattern: String.raw`^"(default|gateway)";r=\d+;t=\d+$` },
    example: '"default";r=299;t=60',
  },
  'ratelimit-policy': {
    description: 'Requests allowed (`q`) in a window of seconds (`w`). Absent with the `gateway` limit.',
    required: false,
    schema: { type: 'string', pattern: String.raw`^"(default|gateway)";q=\d+;w=\d+$` },
    example: '"default";q=300;w=60',
  },
  'retry-after': {
    description: 'Seconds to wait before retrying.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 60,
  },
  location: {
    description: 'The path of the created resource, with the prefix of the request, such as a stage.',
    required: true,
    schema: { type: 'string', pattern: `^(/[\\w-]+)*${BASE_PATH}/` },
    example: `${BASE_PATH}/webhooks/${webhook.id}`,
  },
  etag: {
    description:
      'Identifies this state of the record: a later request can send it as `if-none-match`, or as `if-match` to change the ' +
      'record only in this state. Absent with `expand`, and without the scope that reads the record.',
    required: false,
    schema: { type: 'string', pattern: '^"[A-Za-z0-9_-]+"$' },
    example: '"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"',
  },
  'idempotent-replayed': {
    description:
      'Present if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    required: false,
    schema: { type: 'string', const: 'true' },
  },
  deprecation: {
    description: 'When the path was deprecated: `@` and seconds since 1970 (RFC 9745).',
    required: false,
    schema: { type: 'string', pattern: String.raw`^@\d+$` },
    example: '@1795392000',
  },
  sunset: {
    description: 'When the path will be removed (RFC 8594).',
    required: false,
    schema: { type: 'string', pattern: String.raw`^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$` },
    example: 'Thu, 23 Nov 2028 00:00:00 GMT',
  },
  'x-amzn-remapped-www-authenticate': {
    description: 'The authentication scheme. API Gateway renames `www-authenticate` to this header.',
    required: true,
    schema: { type: 'string', const: 'Developer' },
  },
} as const satisfies Record<string, Header>

type HeaderName = keyof typeof HEADERS

/** The header is not a component, because no endpoint sends it: only the gateway does, for unmatched requests. */
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

const removalHeaders = (route?: Pick<Route, 'deprecated'>) =>
  route?.deprecated ? (['deprecation', 'sunset'] as const) : []

/** Headers that an error has in addition to the common ones. */
const ERROR_HEADERS: Partial<Record<ErrorKey, readonly HeaderName[]>> = {
  unauthorized: ['x-amzn-remapped-www-authenticate'],
  slot_unavailable: ['idempotent-replayed'],
  idempotency_in_progress: ['retry-after'],
  too_many_rotations: ['retry-after'],
  rate_limited: ['retry-after'],
  daily_message_limit: ['retry-after'],
  recipient_message_limit: ['retry-after'],
  too_many_holds: ['retry-after'],
  provider_unavailable: ['retry-after'],
  unavailable: ['retry-after'],
  clinic_paused: ['retry-after'],
}

/** Errors that are returned before a credential is known whose requests could be counted. */
const NOT_RATE_LIMITED: readonly ErrorKey[] = ['unauthorized', 'route_not_found', 'method_not_allowed']

/** The headers of a response with one of these errors, which all have the same status. */
export function headersOf(keys: readonly ErrorKey[], route?: Route): Json {
  const isRateLimited = keys.some((key) => !NOT_RATE_LIMITED.includes(key))
  return {
    ...refs([
      ...COMMON_HEADERS,
      ...(isRateLimited ? RATE_LIMIT_HEADERS : []),
      ...keys.flatMap((key) => ERROR_HEADERS[key] ?? []),
      ...removalHeaders(route),
    ]),
    ...(keys.includes('method_not_allowed') && { allow: ALLOW_HEADER }),
  }
}

export function successHeaders(route: Pick<Route, 'id' | 'method' | 'response' | 'deprecated'>): Json {
  const isCreated = route.response.location !== undefined
  return refs([
    ...COMMON_HEADERS,
    ...RATE_LIMIT_HEADERS,
    ...(isCreated ? (['location'] as const) : []),
    ...(hasEtag(route) ? (['etag'] as const) : []),
    ...(acceptsIdempotencyKey(route) ? (['idempotent-replayed'] as const) : []),
    ...removalHeaders(route),
  ])
}

export const notModifiedHeaders = (): Json => refs([...COMMON_HEADERS, ...RATE_LIMIT_HEADERS, 'etag'])
