import type * as z from 'zod'
import type { Scope } from '../domain/scope.ts'
import type { ErrorKey, RecordNotFoundKey } from './error-catalogue.ts'

/** The path prefix of every endpoint. */
export const BASE_PATH = '/api/developer/v1'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** A scope that depends on a field of the body: each value of the field has its own scope. */
export type ScopeByField = { readonly field: string; readonly byValue: Readonly<Record<string, Scope>> }

/** A scope that a value of a field requires besides that of the endpoint; null for none. */
export type FurtherScope = {
  readonly field: string
  readonly byValue: Readonly<Record<string, Scope | null>>
}

/** A service that an endpoint uses besides the table. */
export type EndpointService = 'sms' | 'email-queue' | 'delivery-queue'

/** What a change returns of its record to a credential without the scope that reads it. Such a response has no `etag`. */
export type RecordReference = {
  readonly schema: z.ZodType
  /** The reference to a record, for a request with this body. */
  of(record: object, sent: object): object
}

/** An endpoint, as data. Infrastructure, grants, validation, documents and the every-route tests derive from it. */
export type Route = {
  /** The name of the Lambda function, its bundle and its file in functions/. */
  readonly id: string
  readonly method: Method
  /** Relative to {@link BASE_PATH}, with parameters in braces. */
  readonly path: `/${string}`
  /** The id of the route that this one is a second path of (aliases.ts). */
  readonly aliasOf?: string
  /** The dates (YYYY-MM-DD) from which it is deprecated, and on which it is removed. Responses have them as headers. */
  readonly deprecated?: { readonly since: string; readonly sunset: string }
  readonly summary: string
  /** Markdown, for the API document: what the schemas cannot express. */
  readonly description?: string
  /** Null for an endpoint that any valid credential may call. */
  readonly scope: Scope | ScopeByField | null
  /** A further scope that the body requires. */
  readonly furtherScope?: FurtherScope
  /** Query parameters that require a further scope of a request that has them. */
  readonly parameterScopes?: Readonly<Record<string, Scope>>
  /**
   * The scope that reads the record which the endpoint creates or changes. Without it, `if-match` can only be `*`, and the
   * response has no `etag`: both say something about fields that the credential may not read.
   */
  readonly readScope?: Scope
  /** Path parameters. All are ids; each maps to the error for an unknown or malformed id. */
  readonly params?: Readonly<Record<string, RecordNotFoundKey>>
  readonly query?: z.ZodObject
  readonly body?: z.ZodObject
  /** Other names of fields of the body, each with the field that it stands for (aliases.ts). */
  readonly fieldAliases?: Readonly<Record<string, string>>
  readonly response: {
    readonly status: number
    /** The status of a success that found the record as it was to become. */
    readonly unchangedStatus?: number
    readonly body: z.ZodType
    /**
     * States that the response is one record as GET returns it to this credential, so that it has an `etag`. `except` names fields
     * of which that does not depend: GET does not return them, or they change by themselves. `fieldScopes` names fields that need a further scope.
     */
    readonly record?: {
      readonly except?: readonly string[]
      readonly reference?: RecordReference
      readonly fieldScopes?: Readonly<Record<string, Scope>>
    }
    /** The base of the `location` header of every success: the path of a created record without its id, relative to {@link BASE_PATH}. */
    readonly location?: `/${string}`
  }
  /** Errors besides {@link COMMON_ERRORS} and {@link BODY_ERRORS}. A route with `precondition_failed` accepts `if-match`. */
  readonly errors: readonly ErrorKey[]
  readonly uses?: {
    readonly services?: readonly EndpointService[]
    /** Lambda memory in MB, if the default is not enough. */
    readonly memory?: number
  }
}

/** Every scope that grants access to an endpoint, or to one value of its {@link ScopeByField}. */
export function scopesOf({ scope }: Pick<Route, 'scope'>): Scope[] {
  if (scope === null) return []
  return typeof scope === 'string' ? [scope] : Object.values(scope.byValue)
}

/** Whether an endpoint lists records. Programs that copy all records of a clinic call these endpoints. */
export const isList = ({ id }: Pick<Route, 'id'>): boolean => id.startsWith('list-')

/** Whether a response has the `etag` of a record. */
export const hasEtag = ({ response }: Pick<Route, 'response'>): boolean => response.record !== undefined

/** Whether an endpoint retrieves one record: a request can send its `etag` as `if-none-match`. */
export const retrievesRecord = (route: Pick<Route, 'method' | 'response'>): boolean =>
  route.method === 'GET' && hasEtag(route)

/** Whether a route accepts `if-match`: its changes can be conditional on the state that the caller has read. */
export const acceptsIfMatch = ({ errors }: Pick<Route, 'errors'>): boolean =>
  errors.includes('precondition_failed')

/** Declares an endpoint. */
export const defineRoute = <const R extends Route>(route: R): R => route

/** Errors of endpoints with a request body that accept an Idempotency-Key. */
const IDEMPOTENCY_ERRORS = [
  'conflicting_idempotency_keys',
  'invalid_idempotency_key',
  'idempotency_key_reused',
] as const satisfies ErrorKey[]

/** Errors of every endpoint with a request body. */
const BODY_ERRORS = ['malformed_json', 'unsupported_media_type', 'validation'] as const satisfies ErrorKey[]

/** Errors of every endpoint. `payload_too_large` can concern the query string: the gateway rejects very long ones. */
export const COMMON_ERRORS = [
  'invalid_params',
  'unauthorized',
  'missing_scope',
  'request_blocked',
  'payload_too_large',
  'rate_limited',
  'internal',
  'unavailable',
  'timeout',
] as const satisfies ErrorKey[]

/** Whether a route accepts an Idempotency-Key, which makes it safe to retry. */
export const acceptsIdempotencyKey = ({ method }: Pick<Route, 'method'>): boolean =>
  method === 'POST' || method === 'PATCH'

/** Every error that a route can return. */
export function errorsOf(route: Pick<Route, 'method' | 'scope' | 'body' | 'errors'>): ErrorKey[] {
  const bodyErrors = route.body ? [...BODY_ERRORS, ...IDEMPOTENCY_ERRORS] : []
  const pauseErrors = route.method === 'GET' ? [] : (['clinic_paused'] as const)
  const excludedErrors: readonly ErrorKey[] = [
    ...(acceptsIdempotencyKey(route) ? [] : IDEMPOTENCY_ERRORS),
    ...(route.scope === null ? (['missing_scope'] as const) : []),
  ]
  const errors = [...COMMON_ERRORS, ...bodyErrors, ...pauseErrors, ...route.errors]
  return errors.filter((key) => !excludedErrors.includes(key))
}
