/** A stack whose clock is ahead, as with `npm start -- --at`: the operator tool has its time, and receivers of webhooks have theirs. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { issueCredential } from '../support/credentials.ts'
import { get, post, type RunningStack, runStack, spawnClinicTool } from '../support/local-stack.ts'
import { newClinic } from '../support/table.ts'

const DAY_MS = 86_400_000
const AHEAD_MS = 400 * DAY_MS

let stack: RunningStack
let clinic: Clinic
const receiver = createServer()

beforeAll(async () => {
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  stack = await runStack({
    demo: false,
    clockOffset: new Float64Array(new SharedArrayBuffer(8)).fill(AHEAD_MS),
    seed: async () => ({ clock_offset_ms: AHEAD_MS }),
    allowedWebhookHost: 'localhost',
  })
  clinic = await newClinic(stack.table)
})
afterAll(async () => {
  receiver.close()
  await stack?.close()
})

const tool = (...args: string[]) => spawnClinicTool(stack, '--json', ...args)
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

it('accepts the previous secret of a rotation for a day of its clock', async () => {
  const { key, secret } = await issueCredential(stack.table, clinic)
  const rotated = (await tool('credential', 'rotate', key)).json().data
  expect(Date.parse(rotated.previous_secret_until)).toBeGreaterThan(Date.now() + AHEAD_MS)
  const statuses = [secret, rotated.secret].map(
    async (one) => (await get(stack, '/me', `${key}:${one}`)).status,
  )
  expect(await Promise.all(statuses)).toEqual([200, 200])
})

it.each(['create', 'update', 'rotate'])(
  'rejects a time of credential %s that is past by its clock',
  async (name) => {
    const { key } = await issueCredential(stack.table, clinic)
    const given = {
      create: ['--clinic', clinic.id, '--name', 'Site', '--scopes', 'all', '--expires'],
      update: [key, '--expires'],
      rotate: [key, '--until'],
    }[name] as string[]
    const { code, stderr } = await tool('credential', name, ...given, inDays(399))
    expect([code, stderr]).toEqual([2, expect.stringContaining('is past: it must be in the future')])
  },
)

it('restores a clinic to a time that is past by its clock, and to no other', async () => {
  const from = stack.outputs.TableName ?? ''
  const restore = (to: string) => tool('restore', 'clinic', clinic.id, '--from', from, '--to', to)
  expect((await restore(inDays(399))).stderr).toContain('--from is the table in use')
  expect((await restore(inDays(401))).stderr).toContain('--to must be in the past')
})

it('signs deliveries at the time that receivers have', async () => {
  const { key, secret: ofKey } = await issueCredential(stack.table, clinic)
  const pair = `${key}:${ofKey}`
  const arrived = once(receiver, 'request')
  const url = `http://localhost:${(receiver.address() as AddressInfo).port}/`
  const { secret, id } = (await post(stack, '/webhooks', { url, events: ['patient.created'] }, { pair })).body
    .data
  expect((await post(stack, `/webhooks/${id}/ping`, {}, { pair })).status).toBeLessThan(300)
  const [request, response] = (await arrived) as [IncomingMessage, { end: () => void }]
  const body = await text(request)
  response.end()
  expect(new Webhook(secret).verify(body, request.headers as Record<string, string>)).toMatchObject({
    clinic_id: clinic.id,
  })
})
