/** One request of the API, with the retries that are safe. */
import { ApiError, type ErrorBody } from './errors.ts'

export type ClientOptions = {
  /** Without the base path, e.g. `https://abc.execute-api.eu-central-1.amazonaws.com/prod`. */
  readonly baseUrl: string
  readonly key: string
  readonly secret: string
  /** Attempts beyond the first, of a request that may be repeated; 3 unless given. */
  readonly retries?: number
  /** Milliseconds for one attempt; 30,000 unless given. */
  readonly timeout?: number
  readonly fetch?: typeof fetch
}

export type RequestOptions = {
  /** Makes repetitions of a POST one; a random one unless given. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

export type ApiRequest = RequestOptions & {
  readonly method: string
  readonly path: string
  readonly query?: object | undefined
  readonly body?: object | undefined
}

/** Statuses after which the same request may succeed; a POST is made one by its key. */
const RETRYABLE_STATUSES = new Set([429, 500, 502, 503, 504])

/** What is waited for at most, in milliseconds, whatever `retry-after` says: a day's limit is not waited out. */
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
      request.method === 'POST' ? (request.idempotencyKey ?? crypto.randomUUID()) : undefined
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
    // Something between here and the API answered.
    body = { error: 'UNKNOWN', message: '' }
  }
  return new ApiError(response.status, body, requestId, retryAfter === null ? null : Number(retryAfter))
}

/** Milliseconds to wait before the next attempt; null when it would be no use. Full jitter, from 200 ms on. */
function retryDelay(error: Error, attempt: number): number | null {
  const backOff = Math.random() * 200 * 2 ** attempt
  // No answer at all: the connection failed, or took too long.
  if (!(error instanceof ApiError)) return backOff
  if (!RETRYABLE_STATUSES.has(error.status) && error.key !== 'idempotency_in_progress') return null
  const requestedWait = (error.retryAfter ?? 0) * 1000
  return requestedWait > MAX_WAIT ? null : requestedWait + backOff
}
