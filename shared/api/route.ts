import type * as z from 'zod'
import type { Scope } from '../domain/scope.ts'
import type { ErrorKey } from './errors.ts'

/** Paths of every endpoint are below this one (spec section 1). */
export const BASE_PATH = '/api/developer/v1'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** The DynamoDB calls an endpoint makes on its clinic's items, beyond what authentication needs. */
export type TableCall =
  | 'GetItem'
  | 'BatchGetItem'
  | 'BatchWriteItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem'

/** The scope depends on a field of the body: each of its values has its own. */
export type ScopeByField = { readonly field: string; readonly byValue: Readonly<Record<string, Scope>> }

/** What an endpoint uses beyond the table. */
export type Service = 'sms' | 'email-queue' | 'delivery-queue'

/** One endpoint, as data. Infrastructure, grants, validation, documents and the every-route tests derive from it. */
export type Route = {
  /** Names the Lambda, its bundle and its file in functions/. */
  readonly id: string
  readonly method: Method
  /** Below {@link BASE_PATH}, parameters in braces. */
  readonly path: `/${string}`
  readonly summary: string
  /** Markdown, for the API document: what its schema cannot say. */
  readonly description?: string
  readonly scope: Scope | ScopeByField
  /** Path parameters, all ids, each with the error that an unknown or malformed one gets. */
  readonly params?: Readonly<Record<string, ErrorKey>>
  readonly query?: z.ZodObject
  readonly body?: z.ZodObject
  readonly response: {
    readonly status: number
    readonly body: z.ZodType
    /** The path below {@link BASE_PATH} that a created record is found at, before its id. */
    readonly location?: `/${string}`
  }
  /** Errors beyond those every endpoint has (COMMON_ERRORS). */
  readonly errors: readonly ErrorKey[]
  readonly uses: {
    readonly table: readonly TableCall[]
    readonly services?: readonly Service[]
    /** Lambda memory in MB when the default is not enough. */
    readonly memory?: number
  }
}

/** Every scope that opens an endpoint, or one of its forms. */
export const scopesOf = ({ scope }: Pick<Route, 'scope'>): Scope[] =>
  typeof scope === 'string' ? [scope] : Object.values(scope.byValue)

export const defineRoute = <const R extends Route>(route: R): R => route

/** Errors of what can be repeated with an Idempotency-Key. */
const IDEMPOTENCY_ERRORS = ['invalid_idempotency_key', 'idempotency_key_reused'] as const satisfies ErrorKey[]

/** Errors that an endpoint with a body can answer, beyond its own and the common ones. */
export const BODY_ERRORS = [
  'malformed_json',
  'unsupported_media_type',
  'validation',
  ...IDEMPOTENCY_ERRORS,
] as const satisfies ErrorKey[]

/** Errors that any endpoint can answer. Too large may be the head alone: the gateway refuses long query strings. */
export const COMMON_ERRORS = [
  'invalid_params',
  'unauthorized',
  'missing_scope',
  'payload_too_large',
  'rate_limited',
  'internal',
  'unavailable',
  'timeout',
] as const satisfies ErrorKey[]

/** Whether an Idempotency-Key makes the route happen once, however often it is asked for. */
export const acceptsIdempotencyKey = ({ method }: Pick<Route, 'method'>): boolean => method === 'POST'

/** Every error that a route can answer. */
export function errorsOf(route: Pick<Route, 'method' | 'body' | 'errors'>): ErrorKey[] {
  const bodyErrors = route.body ? BODY_ERRORS : []
  const excludedErrors: readonly ErrorKey[] = acceptsIdempotencyKey(route) ? [] : IDEMPOTENCY_ERRORS
  return [...COMMON_ERRORS, ...bodyErrors.filter((key) => !excludedErrors.includes(key)), ...route.errors]
}
