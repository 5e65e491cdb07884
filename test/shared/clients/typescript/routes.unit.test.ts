import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { BASE_PATH } from '../../../../shared/api/route.ts'
import { ROUTES } from '../../../../shared/api/routes.ts'
import { createClient, NotFoundError } from '../../../../shared/clients/typescript/client.ts'
import { property } from '../../../support/scale.ts'

/** Calls every function of the client with ids, whatever it takes, and returns the requests that it sent. */
async function requestsOfClient(id: string): Promise<string[]> {
  const sent: string[] = []
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    sent.push(`${init.method} ${new URL(String(url)).pathname.replace(BASE_PATH, '')}`)
    return new Response(null, { status: 404 })
  }
  const call = async (value: unknown, name = ''): Promise<void> => {
    if (typeof value === 'function' && name !== 'changes') {
      const callWith = async (...values: string[]): Promise<void> => {
        const result = value(...values)
        if (Symbol.asyncIterator in result) for await (const _ of result);
        else await call(await Promise.resolve(result).catch(expected))
      }
      // An id in place of the options is an error, whose call has one id less.
      const withFewer =
        (...values: string[]) =>
        (error: unknown) => {
          if (!/is not an option|'in' operator/.test(String(error))) throw error
          return callWith(...values)
        }
      await callWith(id, id).catch(withFewer(id)).catch(withFewer())
    } else if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) await call(one, key).catch(expected)
  }
  await call(createClient({ baseUrl: 'https://api.example.com', credential: 'k:s', fetch }))
  return [...new Set(sent)]
}

/** The response, or for a malformed id a TypeError that names the argument. */
function expected(error: unknown): void {
  const isOfId = error instanceof TypeError && /^(id|\w+Id) /.test(error.message)
  if (!isOfId && !(error instanceof NotFoundError)) throw error
}

const pattern = (method: string, path: string) =>
  new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

it('has a method for every route, and none without a route', async () => {
  const sent = await requestsOfClient('id')
  const missing = ROUTES.filter(
    ({ aliasOf, method, path }) =>
      aliasOf === undefined && !sent.some((request) => pattern(method, path).test(request)),
  )
  const unknown = sent.filter(
    (request) => !ROUTES.some(({ method, path }) => pattern(method, path).test(request)),
  )
  expect([missing.map(({ id }) => id), unknown]).toEqual([[], []])
})

it('sends every id to the route of its method, or does not send it', async () => {
  const routes = ROUTES.filter(({ aliasOf }) => aliasOf === undefined)
  const hostile = [
    '../patients/p1/deactivate#',
    '',
    '.',
    '..',
    '%2e%2e',
    'a/../..',
    'a?b',
    'a#b',
    '\\..',
    'ü\n',
    '\ud800',
  ]
  const usual = await requestsOfClient('id')
  const check = async (id: string) => {
    const sent = await requestsOfClient(id)
    const encoded = sent.map((request) =>
      request.replaceAll(/(?<=\/)[^/]+/g, (part) => (routeSegments.has(part) ? part : 'id')),
    )
    for (const request of encoded) expect([id, usual.includes(request)]).toEqual([id, true])
  }
  const routeSegments = new Set(routes.flatMap(({ path }) => path.split('/')))
  for (const id of hostile) await check(id)
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 20 }), async (id) => {
      fc.pre(!routeSegments.has(id))
      await check(id)
    }),
    property(10, 200),
  )
})
