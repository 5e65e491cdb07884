/** A second path of an endpoint does what the first does. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { get, type HttpResponse, post, type RunningStack, runStack, send } from '../support/local-stack.ts'

let stack: RunningStack

beforeAll(async () => {
  stack = await runStack()
})
afterAll(() => stack.close())

const url = 'https://example.com/hooks'

describe('a second path of an endpoint', () => {
  const count = ({ headers }: HttpResponse) => Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1])

  /** The log line of a request and its line of the access trail, found by the response. */
  const linesOf = async ({ headers }: HttpResponse) => {
    const lines = () =>
      stack.lines.filter(
        ({ request_id, route }) => request_id === headers['x-request-id'] && route !== undefined,
      )
    await vi.waitFor(() => expect(lines().length).toBe(2))
    return lines().map(({ type, route, status, outcome }) => [type ?? 'request', route, status ?? outcome])
  }

  /** The parts of a response that must not depend on the path. */
  const seen = ({ status, headers, text }: HttpResponse) => {
    const differing = /^(date|ratelimit|x-request-id|idempotent-replayed|deprecation|sunset)$/
    return {
      status,
      headers: Object.keys(headers)
        .filter((name) => !differing.test(name))
        .sort(),
      text,
    }
  }

  /** Requests of an endpoint at its first path and at its second one. */
  const requestsOf = async (): Promise<Record<string, [first: string, second: string]>> => {
    const { id } = (await post(stack, '/webhooks', { url, events: ['patient.created'] })).body.data
    const delivery = (await post(stack, `/webhooks/${id}/ping`, {})).body.data.id
    const deliveries = `/webhooks/${id}/deliveries/${delivery}`
    return {
      'ping-webhook': [`/webhooks/${id}/ping`, `/webhooks/${id}/test`],
      redeliver: [`${deliveries}/redeliver`, `${deliveries}/replay`],
    }
  }

  it('returns what the first returns, counts for the same rate, and logs the endpoint', async () => {
    const [first, second] = [await get(stack, '/doctors'), await get(stack, '/clinic/doctors')]
    expect(seen(second)).toEqual(seen(first))
    expect(count(second)).toBe(count(first) - 1)
    expect((await linesOf(second)).sort()).toEqual([
      ['access', 'list-doctors', 200],
      ['request', 'list-doctors', 200],
    ])
    const rejected = await send(`${stack.api}/clinic/doctors`, { method: 'PUT' })
    expect([rejected.status, rejected.headers.allow]).toEqual([405, 'GET'])
  })

  it.each(['ping-webhook', 'redeliver'])(
    'shares the idempotency keys of %s, in both directions',
    async (id) => {
      const [firstPath = '', secondPath = ''] = (await requestsOf())[id] ?? []
      for (const [at, [first, again]] of [
        [firstPath, secondPath],
        [secondPath, firstPath],
      ].entries()) {
        const key = `${id}-${at}`
        const original = await post(stack, first as string, {}, { key })
        const repeated = await post(stack, again as string, {}, { key })
        expect(original.status).toBe(202)
        expect(seen(repeated)).toEqual(seen(original))
        expect(repeated.headers['idempotent-replayed']).toBe('true')
        for (const response of [original, repeated])
          expect((await linesOf(response)).sort()).toEqual([
            ['access', id, 202],
            ['request', id, 202],
          ])
      }
    },
  )
})
