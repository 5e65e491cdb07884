/** Fuzzes the API from its document: no request returns a 5xx or an undocumented response. */
import { once } from 'node:events'
import { Agent, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BASE_PATH } from '../../shared/api/route.ts'
import { assertConforms, document } from '../support/conformance.ts'
import { generateRequests, type RequestCase } from '../support/document-walk.ts'
import { get, post, type RunningStack, runStack } from '../support/local-stack.ts'
import { rounds } from '../support/scale.ts'

const COUNT = rounds(100, 6000)
/** The number of concurrent requests; each may start another thread of a function. */
const CONCURRENCY = rounds(3, 6)
const SEED = Number(process.env.SEED ?? Date.now() % 2 ** 31)

let stack: RunningStack
let receiver: Server
let receiverUrl: string
/** Ids of existing records by parameter name; below /webhooks, `id` is the webhook's. */
const known: Record<string, string> = {}
const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })

beforeAll(async () => {
  receiver = createServer((_request, response) => response.writeHead(204).end()).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  receiverUrl = `http://${host}/webhooks`
  stack = await runStack({ allowedWebhookHost: host })
  const first = async (path: string) => (await get(stack, `${path}?limit=100`)).body.data
  const patients = await first('/patients')
  known.patient_id = patients.find((one: any) => one.phone_number && one.email_address).id
  known.doctor_id = (await first('/doctors')).find((one: any) => one.is_active).id
  known.treatment_id = (await first('/clinic/treatments'))[0].id
  known.invoice_id = (await first('/invoices'))[0].id
  known.appointment_id = (await first('/appointments'))[0].id
  known.payment_id = (await first('/payments'))[0].id
  known.message_id = (await first('/messages'))[0].id
  known.webhook_id = await newWebhook()
  const ping = await post(stack, `/webhooks/${known.webhook_id}/ping`, {})
  known.delivery_id = ping.body.data.id
}, 60_000)
afterAll(async () => {
  agent.destroy()
  await stack?.close()
  receiver?.closeAllConnections()
  receiver?.close()
})

const newWebhook = async (): Promise<string> =>
  (await post(stack, '/webhooks', { url: receiverUrl, events: ['patient.created'] })).body.data.id

/** The webhook that the next DELETE request removes. */
let spare: Promise<string> | undefined

async function idOf({ method, path }: RequestCase, name: string): Promise<string> {
  if (name !== 'id') return known[name] ?? ''
  const [, kind = ''] = /(\w+)s\/\{id\}/.exec(path) ?? []
  if (kind !== 'webhook') return known[`${kind}_id`] ?? ''
  if (method !== 'DELETE') return known.webhook_id ?? ''
  spare ??= newWebhook()
  return spare
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

/** What is wrong with the response to a step; null if nothing is. */
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
  if (status === 204) spare = undefined
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

it(`responds as documented to ${COUNT} requests generated from seed ${SEED}`, async () => {
  const steps = generateRequests(SEED, COUNT, { ...known, url: receiverUrl })
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
  const answer = await post(stack, '/messages', { channel: 'sms', patient_id: id, message: 'Hello' })
  expect(answer.status).toBe(502)
  assertConforms('POST', `${BASE_PATH}/messages`, answer.status, answer.headers, answer.body)
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
      const needsScope = operation?.security.some(({ Developer = [] }) => Developer.length > 0)
      expect([method, status]).toEqual([method, operation ? (needsScope ? 403 : 200) : 405])
      assertConforms(method, target, status, headers, text === '' ? null : JSON.parse(text))
    }
  },
)
