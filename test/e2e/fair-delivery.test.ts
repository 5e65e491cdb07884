/** A clinic whose webhooks respond, and others whose webhooks hang or fail: over HTTP on the local stack, whose queues are not fair. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { issueCredential } from '../support/credentials.ts'
import { get, post, type RunningStack, runStack } from '../support/local-stack.ts'
import { rounds } from '../support/scale.ts'
import { newClinic } from '../support/table.ts'

/** Bounds in milliseconds; the quick size runs at the same time as other tests. */
const FIRST_ATTEMPT_MS = rounds(20_000, 3000)
const RETRY_MS = rounds(40_000, 10_000)

let stack: RunningStack
let server: Server
let host: string
/** When a path received a request, and whether it was answered with success. */
const received: { path: string; at: number }[] = []
const failures = new Map<string, number>()

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const path = request.url ?? ''
    for await (const _ of request);
    received.push({ path, at: Date.now() })
    if (path.startsWith('/hang')) return
    const left = failures.get(path) ?? 0
    failures.set(path, left - 1)
    response.writeHead(left > 0 ? 500 : 204).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  stack = await runStack({ demo: false, allowedWebhookHost: host })
})
afterAll(async () => {
  await stack?.close()
  server?.closeAllConnections()
  server?.close()
})

type Party = { clinic: Clinic; pair: string }

async function newParty(): Promise<Party> {
  const clinic = await newClinic(stack.table)
  const { key, secret } = await issueCredential(stack.table, clinic)
  return { clinic, pair: `${key}:${secret}` }
}

async function createWebhook({ pair }: Party, path: string): Promise<string> {
  const url = `http://${host}${path}`
  const { status, body } = await post(
    stack,
    '/webhooks',
    { url, events: ['patient.created', 'patient.updated'] },
    { pair },
  )
  expect(status).toBe(201)
  return body.data.id
}

async function createPatient({ pair }: Party): Promise<string> {
  const { status, body } = await post(stack, '/patients', { first_name: 'Ada', last_name: 'Test' }, { pair })
  expect(status).toBe(201)
  return body.data.id
}

/** An event of a quiet clinic whose endpoint fails once: the lateness of its first attempt and of its retry. */
async function quietEvent(quiet: Party, path: string) {
  const webhook = await createWebhook(quiet, path)
  failures.set(path, 1)
  await createPatient(quiet)
  const at = Date.now()
  const attempts = () => received.filter((request) => request.path === path)
  await vi.waitFor(() => expect(attempts().length).toBe(1), { timeout: 60_000, interval: 20 })
  const [delivery] = (
    await vi.waitFor(
      async () => {
        const { body } = await get(stack, `/webhooks/${webhook}/deliveries`, quiet.pair)
        expect(body.data[0].attempts.length).toBe(1)
        return body
      },
      { timeout: 30_000, interval: 200 },
    )
  ).data
  await vi.waitFor(() => expect(attempts().length).toBe(2), { timeout: 120_000, interval: 20 })
  const [first, second] = attempts() as unknown as [{ at: number }, { at: number }]
  const lateness = { first: first.at - at, retry: second.at - Date.parse(delivery.next_attempt_at) }
  process.stdout.write(
    `first attempt after ${lateness.first} ms, retry ${lateness.retry} ms after it was due\n`,
  )
  return lateness
}

it('endpoints of other clinics that hang, or fail at once, do not delay endpoints of a quiet one', async () => {
  const [hanging, failing, quiet] = [await newParty(), await newParty(), await newParty()]
  const endpoints = rounds(5, 20)
  for (let n = 0; n < endpoints; n++) {
    await createWebhook(hanging, `/hang/${n}`)
    failures.set(`/fail/${n}`, Number.POSITIVE_INFINITY)
    await createWebhook(failing, `/fail/${n}`)
  }
  const changeBoth = () => Promise.all([hanging, failing].map(createPatient))
  await changeBoth()
  const paths = () => new Set(received.map(({ path }) => path)).size
  await vi.waitFor(() => expect(paths()).toBe(2 * endpoints), { timeout: 60_000, interval: 50 })
  // A long backlog would show that the local queues are not fair: test/simulations/deliver-event-isolation.test.ts simulates it.
  for (let n = 0; n < 3; n++) await changeBoth()
  const lateness = await quietEvent(quiet, '/quiet')
  expect(lateness.first).toBeLessThanOrEqual(FIRST_ATTEMPT_MS)
  expect(lateness.retry).toBeLessThanOrEqual(RETRY_MS)
}, 300_000)
