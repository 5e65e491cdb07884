/** Sends a request to the API, and retries where that is safe. */
import { ApiError, type ErrorBody } from './errors.ts'

export type ClientOptions = {
  /** Without the base path, e.g. `https://abc.execute-api.eu-central-1.amazonaws.com/prod`. */
  readonly baseUrl: string
  readonly key: string
  readonly secret: string
  /** The maximum number of retries. Defaults to 3. */
  readonly retries?: number
  /** The timeout of one attempt in milliseconds. Defaults to 30,000. */
  readonly timeout?: number
  readonly fetch?: typeof fetch
}

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

export type Send = (request: ApiRequest) => Promise<unknown>

export function transport({
  baseUrl,
  key,
  secret,
  retries = 3,
  timeout = 30_000,
  ...options
}: ClientOptions): Send {
  const call = options.fetch ?? fetch
  const base = `${baseUrl.replace(/\/+$/, '')}/api/developer/v1`

  const sendOnce = async (request: ApiRequest, idempotencyKey: string | undefined): Promise<Response> => {
    const { method, path, query, body, signal } = request
    const parameters = Object.entries(query ?? {}).filter(([, value]) => value != null)
    const search = new URLSearchParams(
      parameters.map(([name, value]): [string, string] => [name, String(value)]),
    ).toString()
    const timeoutSignal = AbortSignal.timeout(timeout)
    return call(`${base}${path}${search && `?${search}`}`, {
      method,
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeoutSignal]) : timeoutSignal,
      headers: {
        authorization: `Developer ${key}:${secret}`,
        accept: 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
  }

  return async (request) => {
    const idempotencyKey =
      request.method === 'POST' || request.method === 'PATCH'
        ? (request.idempotencyKey ?? crypto.randomUUID())
        : undefined
    for (let attempt = 0; ; attempt++) {
      const outcome = await sendOnce(request, idempotencyKey).then(
        readResponse,
        (error: unknown) => error as Error,
      )
      if (outcome instanceof Success) return outcome.value
      if (request.signal?.aborted) throw outcome
      const wait = retryDelay(outcome, attempt)
      if (attempt >= retries || wait === null) throw outcome
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
}

class Success {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

async function readResponse(response: Response): Promise<Success | Error> {
  const text = await response.text()
  if (response.ok) return new Success(text === '' ? undefined : JSON.parse(text))
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
