import { expect, it } from 'vitest'
import { BASE_PATH } from '../../../../shared/api/route.ts'
import { ROUTES } from '../../../../shared/api/routes.ts'
import { createClient } from '../../../../shared/clients/typescript/client.ts'

/** Routes without a method of the client, each with the reason. */
const NOT_COVERED: Record<string, string> = {}

/** Calls every function of the client with ids as arguments, and returns the requests that it sent. */
async function requestsOfClient(): Promise<string[]> {
  const sent: string[] = []
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    sent.push(`${init.method} ${new URL(String(url)).pathname.replace(BASE_PATH, '')}`)
    return Response.json({ data: [], meta: { total_pages: 0, next_after: null, has_more: false } })
  }
  const call = async (value: unknown): Promise<void> => {
    if (typeof value === 'function') {
      const result = value('id-1', 'id-2')
      if (Symbol.asyncIterator in result) for await (const _ of result);
      else await call(await result)
    } else if (typeof value === 'object' && value !== null)
      for (const one of Object.values(value)) await call(one)
  }
  await call(
    createClient({
      baseUrl: 'https://api.example.com',
      key: 'k',
      secret: 's',
      fetch: fetch as typeof globalThis.fetch,
    }),
  )
  return [...new Set(sent)]
}

const pattern = (method: string, path: string) =>
  new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, 'id-\\d')}$`)

it('has a method for every route, and none without a route', async () => {
  const sent = await requestsOfClient()
  const missing = ROUTES.filter(
    ({ id, aliasOf, method, path }) =>
      !(id in NOT_COVERED) &&
      aliasOf === undefined &&
      !sent.some((request) => pattern(method, path).test(request)),
  )
  const unknown = sent.filter(
    (request) => !ROUTES.some(({ method, path }) => pattern(method, path).test(request)),
  )
  expect([missing.map(({ id }) => id), unknown]).toEqual([[], []])
})
