/** Sends a request to the API, and retries where that is safe. */
import {
  AbortError,
  type ApiError,
  ConnectionFailedError,
  errorOf,
  NoResponseError,
  RequestTimeoutError,
} from './errors.ts'

export type ClientOptions<Reads extends boolean = true> = {
  /** The address of the API, with or without `/api/developer/v1`. */
  readonly baseUrl: string
  /** The credential, `ck_...:cs_...`. */
  readonly credential?: string
  /** The two halves of the credential, instead of `credential`. */
  readonly key?: string
  readonly secret?: string
  /**
   * `false` for a credential that writes patients or appointments without the scope to read them: changes then return a
   * `PatientReference` or an `AppointmentReference`. Only types depend on it. Defaults to true.
   */
  readonly reads?: Reads
  /** The maximum number of retries. Defaults to 3. */
  readonly retries?: number
  /** The timeout of one attempt in milliseconds. Defaults to 30,000. */
  readonly timeout?: number
  /** Another implementation of `fetch`. Defaults to the global one at the time of each call. */
  readonly fetch?: Fetch
  /**
   * Where responses with an etag, which are those with a single record, are kept by URL: the API sends a record again only if it
   * has changed. They contain data of patients. Nothing is kept by default.
   */
  readonly cache?: ResponseCache
}

/** What the client uses of `fetch`. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>

type FetchInit = {
  method: string
  headers: Record<string, string>
  body?: string
  redirect: 'manual'
  // biome-ignore lint/suspicious/noExplicitAny: an AbortSignal, for which node-fetch has a type of its own
  signal: any
}

type FetchResponse = {
  readonly ok: boolean
  readonly status: number
  readonly headers: { forEach(callback: (value: string, name: string) => void): void }
  text(): Promise<string>
}

/** A Map, or a cache of limited size with the same functions. */
export type ResponseCache = {
  readonly get: (url: string) => CachedResponse | undefined
  readonly set: (url: string, response: CachedResponse) => unknown
}

export type CachedResponse = { readonly etag: string; readonly text: string }

/** A response with its headers. */
export type ApiResponse<T> = {
  readonly body: T
  /** 304 if the body is from the cache of the client. */
  readonly status: number
  /** Identifies this state of a single record. Pass it as `ifMatch` to change the record only in this state. */
  readonly etag: string | null
  /** The path of a new record. */
  readonly location: string | null
  /** Include it when you contact support. */
  readonly requestId: string | null
  /** The requests left in the current minute, of how many, and the seconds until it ends. */
  readonly rateLimit: { readonly limit: number; readonly remaining: number; readonly reset: number } | null
  /** Whether an earlier request with the same idempotency key was executed, and this is its response. */
  readonly isReplayed: boolean
  readonly headers: Headers
}

export type ApiRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** A path of the API document, such as `/patients/{id}`. */
  readonly path: string
  readonly ids?: Readonly<Record<string, unknown>> | undefined
  readonly query?: object | undefined
  readonly body?: unknown
  /** Whether a success is a page of records, not one record. */
  readonly isList?: boolean
  readonly options?: { signal?: AbortSignal; idempotencyKey?: string; ifMatch?: string | null } | undefined
}

/** The caller knows what an endpoint returns. */
export type SendRequest = <Body>(request: ApiRequest) => Promise<ApiResponse<Body>>

const BASE_PATH = '/api/developer/v1'

/** Statuses after which a retry may succeed. */
const RETRYABLE_STATUSES = new Set([429, 500, 502, 503, 504])

/** The longest wait before a retry, in milliseconds. If `retry-after` asks for a longer one, the request fails instead. */
const MAX_WAIT = 60_000

/** Errors with a status of 5xx after which nothing was changed. */
const NOTHING_CHANGED = new Set(['clinic_paused', 'provider_unavailable'])

/** Errors of connections that were never made. */
const NOT_CONNECTED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

export function transport(options: ClientOptions<boolean>): SendRequest {
  const { base, authorization, retries, timeout, cache } = checked(options)
  // Instrumentation and mocks may replace the global one later.
  const call: Fetch = options.fetch ?? ((url, init) => fetch(url, init))

  return async <Body>(request: ApiRequest) => {
    const { method, options: { signal } = {} } = request
    const url = base + pathOf(request)
    const sentHeaders = headersOf(request, authorization)
    const body = request.body === undefined ? undefined : JSON.stringify(request.body)

    const attempt = async (): Promise<ApiResponse<Body>> => {
      const known = method === 'GET' ? cache?.get(url) : undefined
      const headers = { ...sentHeaders, ...(known && { 'if-none-match': known.etag }) }
      const { response, text } = await withTimeout(timeout, signal, async (end) => {
        const init = { method, headers, redirect: 'manual', signal: end } as const
        const response = await call(url, body === undefined ? init : { ...init, body })
        return { response, text: await response.text() }
      })
      const { ok, status } = response
      const received = new Headers()
      response.headers.forEach((value, name) => {
        received.append(name, value)
      })
      if (status === 304 && known) return responseOf(status, received, JSON.parse(known.text))
      const content = ok ? parseSuccess(request, status, text) : null
      if (content === null) throw errorOf(status, received, text)
      const etag = received.get('etag')
      if (method === 'GET' && etag !== null) cache?.set(url, { etag, text })
      return responseOf(status, received, content)
    }

    let mayHaveTakenEffect = false
    for (let attempts = 0; ; attempts++) {
      if (signal?.aborted) throw new AbortError('The call was aborted', signal.reason, mayHaveTakenEffect)
      const outcome = await attempt().catch((error: ApiError | NoResponseError) => error)
      if (!(outcome instanceof Error)) return outcome
      mayHaveTakenEffect ||= method !== 'GET' && mayHaveChanged(outcome)
      // A repeated POST or PATCH has the same idempotency key. A DELETE has none: after one that succeeded, it would be a 404.
      const wait = method === 'DELETE' && mayHaveTakenEffect ? null : retryDelay(outcome, attempts)
      if (attempts >= retries || wait === null) throw Object.assign(outcome, { mayHaveTakenEffect })
      await sleep(wait, signal)
    }
  }
}

/** Whether a request with this outcome may have changed something. */
const mayHaveChanged = (error: ApiError | NoResponseError): boolean =>
  error instanceof NoResponseError
    ? error.mayHaveTakenEffect
    : error.status < 400 || error.status >= 500
      ? !NOTHING_CHANGED.has(error.key)
      : error.key === 'idempotency_in_progress'

const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls back when the signal aborts, until the returned function is called. A signal gets one listener, however many calls it is
 * passed to: Node warns of a leak if there are more than ten.
 */
function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {}
  const callbacks = callbacksOf.get(signal) ?? new Set()
  if (!callbacksOf.has(signal)) {
    callbacksOf.set(signal, callbacks)
    signal.addEventListener('abort', () => {
      for (const one of callbacks) one()
    })
  }
  callbacks.add(callback)
  return () => void callbacks.delete(callback)
}

/** Waits, or until the signal aborts. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      forget()
      resolve()
    }
    const forget = onAbort(signal, end)
    const timer = setTimeout(end, ms)
    if (signal?.aborted) end()
  })

/** Runs work with a signal that ends it, and rejects then even if the work ignores the signal. */
async function withTimeout<T>(
  timeout: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let forget = () => {}
  const ended = new Promise<never>((_, reject) => {
    const stop = (error: NoResponseError) => {
      reject(error)
      end.abort(error)
    }
    forget = onAbort(signal, () => stop(new AbortError('The call was aborted', signal?.reason, true)))
    timer = setTimeout(
      () => stop(new RequestTimeoutError(`No response in ${timeout} ms`, undefined, true)),
      timeout,
    )
  })
  try {
    return await Promise.race([work(end.signal), ended])
  } catch (error) {
    if (error instanceof NoResponseError) throw error
    const { code = '' } = ((error as Error | undefined)?.cause ?? error ?? {}) as { code?: unknown }
    const wasSent = !NOT_CONNECTED.test(String(code))
    throw new ConnectionFailedError(
      wasSent ? 'The connection was lost' : `No connection: ${code}`,
      error,
      wasSent,
    )
  } finally {
    clearTimeout(timer)
    forget()
  }
}

/** The body of a success: `{ data }`, or undefined for a DELETE. Null if it is cut, or not from the API. */
function parseSuccess({ method, path, isList }: ApiRequest, status: number, text: string) {
  if (method === 'DELETE') return status === 204 ? undefined : null
  try {
    const body = JSON.parse(text)
    const isPage = Array.isArray(body.data) && isObject(body.meta)
    return (isList ? isPage : isObject(path === '/health' ? body : body.data)) ? body : null
  } catch {
    return null
  }
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function responseOf<Body>(status: number, headers: Headers, body: Body): ApiResponse<Body> {
  const [remaining, reset] = numbersOf(headers.get('ratelimit'))
  const [limit] = numbersOf(headers.get('ratelimit-policy'))
  return {
    body,
    status,
    etag: headers.get('etag'),
    location: headers.get('location'),
    requestId: headers.get('x-request-id'),
    rateLimit:
      limit === undefined || remaining === undefined || reset === undefined
        ? null
        : { limit, remaining, reset },
    isReplayed: headers.has('idempotent-replayed'),
    headers,
  }
}

/** The numbers of `"default";r=299;t=60`. */
const numbersOf = (header: string | null): number[] => (header?.match(/(?<==)\d+/g) ?? []).map(Number)

/** Milliseconds to wait before a retry, with full jitter from 200 ms; null if the error must not be retried. */
function retryDelay(error: ApiError | NoResponseError, attempts: number): number | null {
  const backOff = Math.random() * Math.min(200 * 2 ** attempts, MAX_WAIT)
  if (error instanceof NoResponseError) return error instanceof AbortError ? null : backOff
  if (!RETRYABLE_STATUSES.has(error.status) && error.key !== 'idempotency_in_progress') return null
  const requestedWait = (error.retryAfter ?? 0) * 1000
  return requestedWait > MAX_WAIT ? null : requestedWait + backOff
}

/** The path with its ids, and the query. */
function pathOf({ path, ids = {}, query = {} }: ApiRequest): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name]
    // The two names are no ids: servers and fetch resolve them to other paths.
    if (typeof id !== 'string' || id === '' || id === '.' || id === '..' || !isWellFormed(id))
      throw new TypeError(`${name} must be the id of a record`)
    return encodeURIComponent(id)
  })
  const parameters = Object.entries(query).filter(([, value]) => value != null)
  const search = new URLSearchParams(
    parameters.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return filled + (search && `?${search}`)
}

/** Whether text has no half of a surrogate pair, which cannot be encoded. */
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text)

function headersOf(
  { method, body, options = {} }: ApiRequest,
  authorization: string,
): Record<string, string> {
  const { idempotencyKey = crypto.randomUUID(), ifMatch, signal } = options
  checkNames(options, REQUEST_OPTIONS)
  check(signal == null || typeof signal.addEventListener === 'function', 'signal must be an AbortSignal')
  const isKey = typeof idempotencyKey === 'string' && /^[\x21-\x7e]{1,255}$/.test(idempotencyKey)
  check(isKey, 'idempotencyKey must be 1 to 255 visible ASCII characters')
  const isEtag = typeof ifMatch === 'string' && /^[\x20-\x7e]+$/.test(ifMatch)
  check(isEtag || !('ifMatch' in options), 'ifMatch must be the etag of a response')
  return {
    authorization,
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...((method === 'POST' || method === 'PATCH') && { 'idempotency-key': idempotencyKey }),
    ...(isEtag && { 'if-match': ifMatch }),
  }
}

function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new TypeError(message)
}

const REQUEST_OPTIONS = ['signal', 'idempotencyKey', 'ifMatch']
const OPTIONS = 'baseUrl credential key secret reads retries timeout fetch cache'.split(' ')

function checkNames(options: object, names: string[]): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  check(unknown === undefined, `${unknown} is not an option: ${names.join(', ')}`)
}

/** The options, with their defaults. Throws a TypeError that names a wrong one. */
function checked(options: ClientOptions<boolean>) {
  check(isObject(options), 'options must be an object')
  const { baseUrl, key, secret, credential = `${key}:${secret}`, retries = 3, timeout = 30_000 } = options
  const { fetch: call, cache, reads } = options
  checkNames(options, OPTIONS)
  check(
    options.credential === undefined ? Boolean(key && secret) : key === undefined && secret === undefined,
    'credential is required, or key and secret instead of it',
  )
  check(
    typeof credential === 'string' && /^[\x21-\x39\x3b-\x7e]+:[\x21-\x7e]+$/.test(credential),
    'credential must be a key and a secret, such as ck_...:cs_...',
  )
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  check(
    url !== undefined && /^https?:$/.test(url.protocol) && url.href === url.origin + url.pathname,
    'baseUrl must be the http or https address of the API, without user, query and fragment',
  )
  check(Number.isInteger(retries) && retries >= 0, 'retries must be a whole number from 0')
  check(
    typeof timeout === 'number' && timeout > 0 && timeout < 2 ** 31,
    'timeout must be milliseconds, more than 0 and at most 2147483647',
  )
  check(call === undefined || typeof call === 'function', 'fetch must be a function')
  check(
    cache === undefined || typeof cache.get === 'function',
    'cache must have the functions get and set of a Map',
  )
  check(reads === undefined || typeof reads === 'boolean', 'reads must be true or false')
  const address = url.href.replace(/\/+$/, '')
  const base = address.endsWith(BASE_PATH) ? address : address + BASE_PATH
  return { base, authorization: `Developer ${credential}`, retries, timeout, cache }
}
