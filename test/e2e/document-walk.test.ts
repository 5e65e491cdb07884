/** Fuzzes the API from its document: no request returns a 5xx or an undocumented response. */
import { once } from 'node:events'
import { Agent, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RECORD_NOT_FOUND_KEYS } from '../../shared/api/error-catalogue.ts'
import { BASE_PATH } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { MAX_MINOR_UNITS } from '../../shared/domain/money/money.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { assertConforms, document } from '../support/document-conformance.ts'
import { generateRequests, type RequestCase } from '../support/document-walk.ts'
import { post, type RunningStack, runStack } from '../support/local-stack.ts'
import {
  createRouteSamples,
  newInvoice,
  pathOf,
  type RouteSamples,
  type SampleIds,
} from '../support/route-samples.ts'
import { rounds } from '../support/scale.ts'

const COUNT = rounds(100, 6000)
/** The number of concurrent requests; each may start another thread of a function. */
const CONCURRENCY = rounds(3, 6)
const SEED = Number(process.env.SEED ?? Date.now() % 2 ** 31)

let stack: RunningStack
let receiver: Server
let receiverUrl: string
let samples: RouteSamples
const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })

beforeAll(async () => {
  receiver = createServer((_request, response) => response.writeHead(204).end()).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  receiverUrl = `http://${host}/webhooks`
  stack = await runStack({ allowedWebhookHost: host })
  const clinic = await clinicStore(stack).find(stack.clinics[0]?.id as ClinicId)
  if (!clinic) throw new Error('the stack has no demo clinic')
  samples = await createRouteSamples(stack.table, { clinic, webhook: { url: receiverUrl } })
})
afterAll(async () => {
  agent.destroy()
  await stack?.close()
  receiver?.closeAllConnections()
  receiver?.close()
})

/** The ids for the requests to each path, until one succeeds. */
const unused = new Map<string, Promise<SampleIds>>()

async function idOf({ method, path }: RequestCase, name: string): Promise<string> {
  const routes = ROUTES.filter((route) => route.path === path)
  const route = routes.find((one) => one.method === method) ?? routes[0]
  if (!route) throw new Error(`${path} is not the path of a route`)
  const ids = unused.get(`${method} ${path}`) ?? samples.idsFor(route)
  unused.set(`${method} ${path}`, ids)
  return pathOf(route, await ids)[name] ?? ''
}

async function send(step: RequestCase) {
  let path = step.path
  for (const [template, name = ''] of step.path.matchAll(/\{(\w+)\}/g)) {
    const id = step.ids[name] ?? (await idOf(step, name))
    path = path.replace(template, () => id)
  }
  const target = `${BASE_PATH}${path}${step.query.length > 0 ? `?${step.query.join('&')}` : ''}`
  const { hostname, port } = new URL(stack.baseUrl)
  const sent = request({
    hostname,
    port,
    agent,
    method: step.method,
    path: target,
    headers: { authorization: `Developer ${stack.clinics[0]?.credentials.full}`, ...step.headers },
  })
  sent.end(step.text ?? (step.body === undefined ? undefined : JSON.stringify(step.body)))
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const piece of response) text += piece
  return { target, status: response.statusCode as number, headers: response.headers, text }
}

/** The problem with the response to a step; null if there is none. */
async function problemOf(step: RequestCase): Promise<string | null> {
  const { target, status, headers, text } = await send(step)
  const said = `${step.label}\n  ${step.method} ${target.slice(0, 300)}\n  ${status} ${text.slice(0, 300)}`
  if (status >= 500) return `a ${status}: ${said}`
  try {
    assertConforms(step.method, target, status, headers, text === '' ? null : JSON.parse(text))
  } catch (error) {
    return `${(error as Error).message}: ${said}`
  }
  if (step.verdict === 'wrong' && status < 300) return `accepted: ${said}`
  const details: { field: string }[] = text === '' ? [] : (JSON.parse(text).details ?? [])
  const isNamed = step.field === undefined || details.some(({ field }) => field?.split('.')[0] === step.field)
  if (step.verdict === 'fits' && (status === 400 || status === 422) && isNamed && details.length > 0)
    return `rejected: ${said}`
  if (status < 300) unused.delete(`${step.method} ${step.path}`)
  if (step.path === '/webhooks' && status === 201) await remove(JSON.parse(text).data.id)
  return null
}

/** A clinic can have only a few webhooks, so each one created is deleted at once. */
const remove = (id: string) =>
  send({
    label: '',
    method: 'DELETE',
    path: '/webhooks/{id}',
    ids: { id },
    query: [],
    headers: {},
    verdict: 'fits',
  })

/** The ids by the names of query parameters and fields, such as `patient_id`. */
const knownIds = (): Record<string, string> =>
  Object.fromEntries(
    RECORD_NOT_FOUND_KEYS.map((kind) => [kind.replace('not_found', 'id'), samples.ids[kind]]),
  )

it(`responds as documented to ${COUNT} requests generated from seed ${SEED}`, async () => {
  // No payment of the walk is larger than the balance of this invoice.
  const { id: invoice_id } = await newInvoice(stack.table, samples, { total: MAX_MINOR_UNITS })
  const steps = generateRequests(SEED, COUNT, { ...knownIds(), invoice_id, url: receiverUrl })
  const problems: string[] = []
  const queue = steps.values()
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const step of queue) {
        const problem = await problemOf(step)
        if (problem !== null) problems.push(problem)
      }
    }),
  )
  expect(problems.slice(0, 20)).toEqual([])
  expect(problems.length).toBe(0)
})

it('returns a documented 502 when the provider cannot be reached', async () => {
  const unlucky = { first_name: 'Umut', last_name: 'Demir', phone_number: '+12015550102' }
  const { id } = (await post(stack, '/patients', unlucky)).body.data
  const response = await post(stack, '/messages', { channel: 'sms', patient_id: id, message: 'Hello' })
  expect(response.status).toBe(502)
  assertConforms('POST', `${BASE_PATH}/messages`, response.status, response.headers, response.body)
})

it.each(Object.keys(document.paths))(
  '%s returns a documented 403 without the scope, if it has one, and 405 for other methods',
  async (path) => {
    const authorization = `Developer ${stack.clinics[0]?.credentials.none}`
    const step = {
      label: '',
      path,
      ids: {},
      query: [],
      headers: { authorization },
      verdict: 'wrong' as const,
    }
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
      const { target, status, headers, text } = await send({ ...step, method })
      const operation = document.paths[path]?.[method.toLowerCase()]
      const needsScope = operation?.['x-required-scopes'].length
      expect([method, status]).toEqual([method, operation ? (needsScope ? 403 : 200) : 405])
      assertConforms(method, target, status, headers, text === '' ? null : JSON.parse(text))
    }
  },
)
