import { type ErrorKey, errorBody } from '../../shared/api/errors.ts'
import type { RecordedExchange } from '../../shared/api/openapi/examples.ts'
import { isHeaderName } from '../../shared/api/openapi/headers.ts'
import type { Route } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'

/** What stands in the document wherever a secret was shown: 32 bytes, all of them the digit 0. */
export const SHOWN_SECRET = `whsec_${Buffer.from('0'.repeat(32)).toString('base64')}`

export type Asked = {
  readonly pair?: string
  /** Text is sent as it stands. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

// biome-ignore lint/suspicious/noExplicitAny: JSON that the contracts describe
type Body = any

export type Heard = { readonly status: number; readonly body: Body }

/** Asks the API, and writes down what it answers. */
export function notebook(api: string, pair: string) {
  const successes: Record<string, Record<string, RecordedExchange>> = {}
  const refusals: Record<string, Partial<Record<ErrorKey, unknown>>> = {}
  const errors: Partial<Record<ErrorKey, unknown>> = {}
  const headers: Record<string, string> = {}

  async function ask(method: string, path: string, asked: Asked = {}): Promise<Heard> {
    const { body } = asked
    const answer = await fetch(`${api}${path}`, {
      method,
      headers: {
        authorization: `Developer ${asked.pair ?? pair}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...asked.headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    for (const [name, value] of answer.headers) if (isHeaderName(name)) headers[name] ??= value
    return {
      status: answer.status,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }

  /** Notes a success of a route. @throws Error for any other answer */
  async function succeed(id: string, path: string, asked: Asked = {}, name = 'default'): Promise<Heard> {
    const { method, response } = routeOf(id)
    const heard = await ask(method, path, asked)
    if (heard.status !== response.status) throw new Error(`${id} answers ${JSON.stringify(heard.body)}`)
    const exchange = { path, request: asked.body, answer: shown(heard.body) }
    successes[id] = { ...successes[id], [name]: exchange }
    return heard
  }

  /** Notes an error; with a route's id, as that route's own. @throws Error for any other answer */
  async function refuse(key: ErrorKey, method: string, path: string, asked?: Asked, id?: string) {
    const heard = await ask(method, path, asked)
    if (heard.body?.message !== errorBody(key).message)
      throw new Error(`${method} ${path} does not answer ${key}, but ${JSON.stringify(heard.body)}`)
    if (id === undefined) errors[key] = heard.body
    else refusals[id] = { ...refusals[id], [key]: heard.body }
  }

  return { ask, succeed, refuse, successes, refusals, errors, headers }
}

export type Notebook = ReturnType<typeof notebook>

const routeOf = (id: string): Route => {
  const route = ROUTES.find((known) => known.id === id)
  if (!route) throw new Error(`There is no route ${id}.`)
  return route
}

/** What may be published of an answer: all of it but secrets. */
const shown = (body: unknown): unknown =>
  body === undefined
    ? undefined
    : JSON.parse(JSON.stringify(body).replace(/"whsec_[^"]*"/g, JSON.stringify(SHOWN_SECRET)))
