/** Sends a request to the API, and retries where that is safe. */
import { ApiError, type ErrorBody } from './errors.ts'

export type ClientOptions = {
  /** The address without the base path, e.g. `https://abc.execute-api.eu-central-1.amazonaws.com/prod`. */
  readonly baseUrl: string
  readonly key: string
  readonly secret: string
  /** The maximum number of retries. Defaults to 3. */
  readonly retries?: number
  /** The timeout of one attempt in milliseconds. Defaults to 30,000. */
  readonly timeout?: number
  readonly fetch?: typeof fetch
  /**
   * Where responses with an etag, which are those with a single record, are kept by URL: the API sends a record again only if it
   * has changed. They contain data of patients. Nothing is kept by default.
   */
  readonly cache?: ResponseCache
}

/** A Map, or a cache of limited size with the same functions. */
export type ResponseCache = {
  readonly get: (url: string) => CachedResponse | undefined
  readonly set: (url: string, response: CachedResponse) => unknown
}

export type CachedResponse = { readonly etag: string; readonly text: string }

export type RequestOptions = {
  /** The Idempotency-Key of a POST or PATCH. Defaults to a random one. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

export type ApiRequest = RequestOptions & {
  readonly method: string
  readonly path: string
  readonly query?: object | undefined
  readonly body?: object | undefined
}

/** Statuses after which a retry may succeed. A POST or PATCH is safe to retry because it has an idempotency key. */
const RETRYABLE_STATUSES = new Set([429, 500, 502, 503, 504])

/** If `retry-after` asks for a longer wait, in milliseconds, the request fails instead. */
const MAX_WAIT = 60_000

export type SendRequest = (request: ApiRequest) => Promise<unknown>

export function transport({
  baseUrl,
  key,
  secret,
  retries = 3,
  timeout = 30_000,
  ...options
}: ClientOptions): SendRequest {
  const call = options.fetch ?? fetch
  const base = `${baseUrl.replace(/\/+$/, '')}/api/developer/v1`

  const sendOnce = async (
    request: ApiRequest,
    idempotencyKey: string | undefined,
  ): Promise<Success | Error> => {
    const { method, path, query, body, signal } = request
    const parameters = Object.entries(query ?? {}).filter(([, value]) => value != null)
    const search = new URLSearchParams(
      parameters.map(([name, value]): [string, string] => [name, String(value)]),
    ).toString()
    const timeoutSignal = AbortSignal.timeout(timeout)
    const url = `${base}${path}${search && `?${search}`}`
    const known = method === 'GET' ? options.cache?.get(url) : undefined
    const response = await call(url, {
      method,
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeoutSignal]) : timeoutSignal,
      headers: {
        authorization: `Developer ${key}:${secret}`,
        accept: 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(body && { 'content-type': 'application/json' }),
        ...(known && { 'if-none-match': known.etag }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (response.status === 304 && known) return new Success(known.text)
    const outcome = await readResponse(response)
    const etag = response.headers.get('etag')
    if (method === 'GET' && etag !== null && outcome instanceof Success)
      options.cache?.set(url, { etag, text: outcome.text })
    return outcome
  }

  return async (request) => {
    const idempotencyKey =
      request.method === 'POST' || request.method === 'PATCH'
        ? (request.idempotencyKey ?? crypto.randomUUID())
        : undefined
    for (let attempt = 0; ; attempt++) {
      const outcome = await sendOnce(request, idempotencyKey).catch((error: unknown) => error as Error)
      if (outcome instanceof Success) return outcome.text === '' ? undefined : JSON.parse(outcome.text)
      if (request.signal?.aborted) throw outcome
      const wait = retryDelay(outcome, attempt)
      if (attempt >= retries || wait === null) throw outcome
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
}

class Success {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

async function readResponse(response: Response): Promise<Success | Error> {
  const text = await response.text()
  if (response.ok) return new Success(text)
  const requestId = response.headers.get('x-request-id')
  const retryAfter = response.headers.get('retry-after')
  let body: ErrorBody
  try {
    body = JSON.parse(text) as ErrorBody
  } catch {
    // The response came from a proxy, not from the API.
    body = { error: 'UNKNOWN', message: '' }
  }
  return new ApiError(response.status, body, requestId, retryAfter === null ? null : Number(retryAfter))
}

/** Milliseconds to wait before a retry, with full jitter from 200 ms; null if the error must not be retried. */
function retryDelay(error: Error, attempt: number): number | null {
  const backOff = Math.random() * 200 * 2 ** attempt
  // No response: the connection failed or timed out.
  if (!(error instanceof ApiError)) return backOff
  if (!RETRYABLE_STATUSES.has(error.status) && error.key !== 'idempotency_in_progress') return null
  const requestedWait = (error.retryAfter ?? 0) * 1000
  return requestedWait > MAX_WAIT ? null : requestedWait + backOff
}
