/** The access trail of the local stack: requests and commands, in its files. */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { localOperatorLog } from '../../bin/clinic/tool/operator-log.ts'
import { get, post, type RunningStack, runClinicTool, runStack } from '../support/local-stack.ts'

let stack: RunningStack
let clinic: string
/** Credentials of the clinic. */
let pair: string
let patient: { id: string; first_name: string }

beforeAll(async () => {
  stack = await runStack({ demo: false })
  const own = await newClinic()
  clinic = own.id
  pair = own.pair
  const sent = { first_name: 'Zerrin', last_name: 'Canary', email_address: 'zerrin@example.com' }
  patient = (await post(stack, '/patients', sent, { pair })).body.data
})
afterAll(() => stack?.close())

async function newClinic(): Promise<{ id: string; pair: string }> {
  const settings = ['--name', 'Praxis Nord', '--timezone', 'Europe/Berlin', '--currency', 'EUR', '--yes']
  const { id } = (await tool('clinic', 'create', ...settings, '--json')).json().data
  const scopes = ['--clinic', id, '--name', 'Test', '--scopes', 'all']
  const { key, secret } = (await tool('credential', 'create', ...scopes, '--json')).json().data
  return { id, pair: `${key}:${secret}` }
}

const tool = (...args: string[]) => runClinicTool(stack, ...args)

const local = async () =>
  (await (await fetch(`${stack.baseUrl}/_local`)).json()) as {
    delivered: { access: string; operator: string }
    endpoints: { logs: string }
    outputs: Record<string, string>
  }

async function trail(of: 'access' | 'operator' = 'access'): Promise<{ text: string; lines: any[] }> {
  const text = readFileSync((await local()).delivered[of], 'utf8')
  const lines = text.trim().split('\n')
  return { text, lines: lines.map((line) => JSON.parse(line)) }
}

describe('a request', () => {
  it('is in the trail when it has its response, with its caller and its records', async () => {
    const { headers } = await get(stack, `/patients/${patient.id}`, pair)
    const line = (await trail()).lines.find(({ request_id: id }) => id === headers['x-request-id'])
    expect(line).toEqual({
      type: 'access',
      level: 'info',
      timestamp: expect.any(String),
      request_id: headers['x-request-id'],
      clinic_id: clinic,
      credential: pair.split(':')[0],
      route: 'get-patient',
      access: 'read',
      outcome: 200,
      source_ip: '127.0.0.1',
      records: [patient.id],
    })
  })

  it('leaves nothing else of the patient there, and no ids in the terminal', async () => {
    await get(stack, `/patients?search=${patient.first_name}`, pair)
    await get(stack, `/appointments?patient_id=${patient.id}`, pair)
    expect((await trail()).text).not.toMatch(/zerrin|canary/i)
    expect(stack.log.join('\n')).not.toMatch(new RegExp(`${patient.id}|zerrin|canary`, 'i'))
  })
})

it('a command of the operator tool does nothing when its line cannot be written', async () => {
  const about = await local()
  const server = createServer((_request, response) => {
    // The same stack, but its log group takes no lines.
    const endpoints = { ...about.endpoints, logs: 'http://127.0.0.1:1' }
    response.end(JSON.stringify({ ...about, endpoints }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = String((server.address() as AddressInfo).port)
  const options = ['--clinic', clinic, '--external-id', 'Unseen']
  const { code, stderr } = await tool('--port', port, 'patient', 'link', patient.id, ...options)
  server.close()
  expect([code, stderr]).toEqual([3, expect.stringContaining('cannot be written, so nothing was done')])
  expect((await get(stack, `/patients/${patient.id}`, pair)).body.data.external_id).not.toBe('Unseen')
})

it('a line that an operator has made up is not a request', async () => {
  const { endpoints, outputs } = await local()
  const madeUp = {
    timestamp: new Date().toISOString(),
    request_id: 'x',
    clinic_id: clinic,
    records: [patient.id],
    credential: pair.split(':')[0],
    route: 'get-patient',
    outcome: 200,
  }
  const log = localOperatorLog(endpoints.logs, outputs.OperatorLogGroup as string)
  await log.put([{ type: 'access', ...madeUp }, { type: 'access' }], Date.now())
  expect((await trail('operator')).text).toContain('"request_id":"x"')
  expect((await trail()).text).not.toContain('"request_id":"x"')
})
