import { type ErrorKey, errorBody } from '../../shared/api/errors.ts'
import type { RecordedExchange } from '../../shared/api/openapi/examples.ts'
import { isHeaderName } from '../../shared/api/openapi/headers.ts'
import type { Route } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'

/** What stands in the document wherever a secret was shown: 32 bytes, all of them the digit 0. */
export const EXAMPLE_SECRET = `whsec_${Buffer.from('0'.repeat(32)).toString('base64')}`

export type RequestOptions = {
  readonly pair?: string
  /** Text is sent as it stands. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

// biome-ignore lint/suspicious/noExplicitAny: JSON that the contracts describe
type Body = any

export type RecordedResponse = { readonly status: number; readonly body: Body }

/** Asks the API, and writes down what it answers. */
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

  /** Notes a success of a route. @throws Error for any other answer */
  async function recordSuccess(
    id: string,
    path: string,
    options: RequestOptions = {},
    name = 'default',
  ): Promise<RecordedResponse> {
    const { method, response } = routeOf(id)
    const recorded = await sendRequest(method, path, options)
    if (recorded.status !== response.status) throw new Error(`${id} answers ${JSON.stringify(recorded.body)}`)
    const exchange = { path, request: options.body, answer: redactSecrets(recorded.body) }
    successes[id] = { ...successes[id], [name]: exchange }
    return recorded
  }

  /** Notes an error; with a route's id, as that route's own. @throws Error for any other answer */
  async function recordError(
    key: ErrorKey,
    method: string,
    path: string,
    options?: RequestOptions,
    id?: string,
  ) {
    const recorded = await sendRequest(method, path, options)
    if (recorded.body?.message !== errorBody(key).message)
      throw new Error(`${method} ${path} does not answer ${key}, but ${JSON.stringify(recorded.body)}`)
    if (id === undefined) errors[key] = recorded.body
    else refusals[id] = { ...refusals[id], [key]: recorded.body }
  }

  return { sendRequest, recordSuccess, recordError, successes, refusals, errors, headers }
}

export type ExampleRecorder = ReturnType<typeof exampleRecorder>

const routeOf = (id: string): Route => {
  const route = ROUTES.find((known) => known.id === id)
  if (!route) throw new Error(`There is no route ${id}.`)
  return route
}

/** What may be published of an answer: all of it but secrets. */
const redactSecrets = (body: unknown): unknown =>
  body === undefined
    ? undefined
    : JSON.parse(JSON.stringify(body).replace(/"whsec_[^"]*"/g, JSON.stringify(EXAMPLE_SECRET)))
