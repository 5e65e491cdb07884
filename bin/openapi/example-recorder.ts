import type { ErrorKey } from '../../shared/api/error-catalogue.ts'
import { errorBody } from '../../shared/api/errors.ts'
import type { RecordedExchange } from '../../shared/api/openapi/examples.ts'
import { isHeaderName } from '../../shared/api/openapi/headers.ts'
import type { Route } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'

/** Replaces every webhook secret in the document: 32 bytes, all of them the digit 0. */
export const EXAMPLE_SECRET = `whsec_${Buffer.from('0'.repeat(32)).toString('base64')}`

export type RequestOptions = {
  readonly pair?: string
  /** A string is sent unchanged, anything else as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

// biome-ignore lint/suspicious/noExplicitAny: JSON that the contracts describe
type Body = any

export type RecordedResponse = { readonly status: number; readonly body: Body }

/** Sends requests to the API and records the responses. */
export function exampleRecorder(api: string, pair: string) {
  const successes: Record<string, Record<string, RecordedExchange>> = {}
  const refusals: Record<string, Partial<Record<ErrorKey, unknown>>> = {}
  const errors: Partial<Record<ErrorKey, unknown>> = {}
  const headers: Record<string, string> = {}

  async function sendRequest(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<RecordedResponse> {
    const { body } = options
    const response = await fetch(`${api}${path}`, {
      method,
      headers: {
        authorization: `Developer ${options.pair ?? pair}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    for (const [name, value] of response.headers) if (isHeaderName(name)) headers[name] ??= value
    return {
      status: response.status,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }

  /** Records a success of a route. @throws Error on any other response */
  async function recordSuccess(
    id: string,
    path: string,
    options: RequestOptions = {},
    name = 'default',
  ): Promise<RecordedResponse> {
    const { method, response } = routeOf(id)
    const recorded = await sendRequest(method, path, options)
    if (recorded.status !== response.status)
      throw new Error(`${id} returned ${recorded.status}: ${JSON.stringify(recorded.body)}`)
    const exchange = { path, request: options.body, answer: redactSecrets(recorded.body) }
    successes[id] = { ...successes[id], [name]: exchange }
    return recorded
  }

  /** Records an error; with a route's id, as that route's own. @throws Error on any other response */
  async function recordError(
    key: ErrorKey,
    method: string,
    path: string,
    options?: RequestOptions,
    id?: string,
  ) {
    const recorded = await sendRequest(method, path, options)
    if (recorded.body?.message !== errorBody(key).message)
      throw new Error(`${method} ${path} did not return ${key}: ${JSON.stringify(recorded.body)}`)
    if (id === undefined) errors[key] = recorded.body
    else refusals[id] = { ...refusals[id], [key]: recorded.body }
  }

  return { sendRequest, recordSuccess, recordError, successes, refusals, errors, headers }
}

export type ExampleRecorder = ReturnType<typeof exampleRecorder>

const routeOf = (id: string): Route => {
  const route = ROUTES.find((known) => known.id === id)
  if (!route) throw new Error(`Unknown route: ${id}`)
  return route
}

/** The response with every secret, and the key of the credential, replaced. */
const redactSecrets = (body: unknown): unknown =>
  body === undefined
    ? undefined
    : JSON.parse(
        JSON.stringify(body)
          .replace(/"whsec_[^"]*"/g, JSON.stringify(EXAMPLE_SECRET))
          .replace(/"ck_[^"]*"/g, '"KEY"'),
      )
