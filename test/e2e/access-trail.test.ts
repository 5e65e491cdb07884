/** The access trail of the local stack: requests and commands, in the file and as `clinic access` lists them. */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { localOperatorLog } from '../../bin/clinic/tool/operator-log.ts'
import { get, post, type RunningStack, runClinicTool, runStack } from '../support/local-stack.ts'

let stack: RunningStack
let clinic: string
/** Credentials of the clinic and of another one. */
let pair: string
let other: { id: string; pair: string }
let patient: { id: string; first_name: string }

beforeAll(async () => {
  stack = await runStack({ demo: false })
  const own = await newClinic()
  other = await newClinic()
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

const accesses = async (...more: string[]) =>
  (await tool('access', '--clinic', clinic, '--patient', patient.id, '--json', ...more)).json().data

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

describe('a command of the operator tool', () => {
  it('has a line before its first call and one at its end, with the ids it was given and those it printed', async () => {
    const named = ['--clinic', clinic, '--first-name', 'Zerrin-Ada']
    await tool('patient', 'update', patient.id, ...named)
    const { lines, text } = await trail('operator')
    const [started, done] = lines.filter(({ command }) => command === 'patient update')
    const line = { type: 'access', clinic_id: clinic, operator: 'local', command: 'patient update' }
    expect(started).toMatchObject({ ...line, outcome: 'started', records: [patient.id] })
    expect(done).toMatchObject({ ...line, outcome: 'done', records: [patient.id] })
    expect(done.request_id).toBe(started.request_id)
    expect(text).not.toMatch(/zerrin/i)
  })

  it('has the key of the credential that it issues or revokes, and no secret', async () => {
    const options = ['--clinic', clinic, '--name', 'Canary Ltd', '--scopes', 'none']
    const { key, secret } = (await tool('credential', 'create', ...options, '--json')).json().data
    await tool('credential', 'revoke', key, '--yes')
    const { lines, text } = await trail('operator')
    const withKey = lines.filter(({ records }) => records.includes(key))
    expect(withKey.map(({ command, outcome }) => `${command} ${outcome}`)).toEqual([
      'credential create done',
      'credential revoke started',
      'credential revoke done',
    ])
    expect(text).not.toContain(secret)
    expect(text).not.toContain('Canary')
  })

  it('is failed when it fails', async () => {
    const unknown = '0b5a1f9e-7c7a-4c57-8f0f-2f2f6a1c9d11'
    expect((await tool('patient', 'erase', unknown, '--clinic', clinic)).code).toBe(2)
    const outcomes = (await trail('operator')).lines.filter(({ records }) => records.includes(unknown))
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['started', 'failed'])
  })

  it('does nothing when its line cannot be written', async () => {
    const about = await local()
    const server = createServer((_request, response) => {
      // The same stack, but its log group takes no lines.
      const endpoints = { ...about.endpoints, logs: 'http://127.0.0.1:1' }
      response.end(JSON.stringify({ ...about, endpoints }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const port = String((server.address() as AddressInfo).port)
    const options = ['--clinic', clinic, '--first-name', 'Unseen']
    const { code, stderr } = await tool('--port', port, 'patient', 'update', patient.id, ...options)
    server.close()
    expect([code, stderr]).toEqual([3, expect.stringContaining('cannot be written, so nothing was done')])
    expect((await get(stack, `/patients/${patient.id}`, pair)).body.data.first_name).not.toBe('Unseen')
  })
})

describe('clinic access', () => {
  it('lists who read or changed the patient, oldest first', async () => {
    const actions = (await accesses()).map(({ action }: { action: string }) => action)
    expect(actions.slice(0, 2)).toEqual(['create-patient', 'get-patient'])
    expect(actions).toEqual(expect.arrayContaining(['list-patients', 'clinic patient update']))
    // Its own first line is there already.
    expect(actions.at(-1)).toBe('clinic access')
    const times = (await accesses()).map(({ at }: { at: string }) => Date.parse(at))
    expect(times).toEqual(times.toSorted((a: number, b: number) => a - b))
  })

  it('is limited to dates in the time zone of the clinic', async () => {
    const all = await accesses()
    const today = all.at(-1).at.slice(0, 10)
    expect((await accesses('--from', today, '--to', today)).length).toBeGreaterThan(0)
    expect(await accesses('--to', '2026-01-01')).toEqual([])
    expect(await accesses('--from', '2999-01-01')).toEqual([])
  })

  it('lists the commands that reached the whole clinic', async () => {
    await tool('ids', '--clinic', clinic)
    await tool('verify', '--clinic', clinic)
    await tool('verify', '--clinic', other.id)
    const reached = (await accesses()).filter(({ whole_clinic }: { whole_clinic: boolean }) => whole_clinic)
    expect(reached.map(({ action, outcome }: Record<string, string>) => `${action} ${outcome}`)).toEqual([
      'clinic ids started',
      'clinic ids failed',
      'clinic verify started',
      'clinic verify done',
    ])
  })

  it('shows a line that an operator has made up as a command of an operator, or not at all', async () => {
    const { endpoints, outputs } = await local()
    const line = {
      timestamp: new Date().toISOString(),
      request_id: 'x',
      clinic_id: clinic,
      records: [patient.id],
    }
    const madeUp = { ...line, credential: pair.split(':')[0], route: 'get-patient', outcome: 200 }
    const log = localOperatorLog(endpoints.logs, outputs.OperatorLogGroup as string)
    await log.put([{ type: 'access', ...madeUp }, { type: 'access' }], Date.now())
    await log.put(
      [{ type: 'access', ...madeUp, operator: 'colleague', command: 'made up', outcome: 'done' }],
      Date.now(),
    )
    expect((await trail('operator')).text).toContain('"request_id":"x"')
    expect((await trail()).text).not.toContain('"request_id":"x"')
    const listed = (await accesses()).filter(({ request_id }: { request_id: string }) => request_id === 'x')
    expect(listed).toMatchObject([{ who: 'colleague', action: 'clinic made up', outcome: 'done' }])
    const request = `done\n${line.timestamp}  ${madeUp.credential}  192.0.2.1  get-patient  200`
    const command = { ...line, operator: 'local', command: 'x', outcome: request }
    await log.put([{ type: 'access', ...command }], Date.now())
    const { stdout } = await tool('access', '--clinic', clinic, '--patient', patient.id)
    expect(stdout.split('\n').filter((text) => text.includes('192.0.2.1'))).toEqual([
      expect.stringContaining('clinic x'),
    ])
  })

  it('prints nothing of another clinic’s accesses', async () => {
    await get(stack, `/patients/${patient.id}`, other.pair)
    const listed = await tool('access', '--clinic', other.id, '--patient', patient.id, '--json')
    const own = listed.json().data.filter(({ whole_clinic }: { whole_clinic: boolean }) => !whole_clinic)
    expect(own.map(({ outcome }: { outcome: unknown }) => outcome)).toEqual([404, 'started'])
    expect((await accesses()).map(({ outcome }: { outcome: unknown }) => outcome)).not.toContain(404)
  })

  it.each([
    ['a malformed id', ['--patient', 'x'], '--patient'],
    ['an impossible date', ['--from', '2026-02-30'], '--from'],
    ['a period that ends before it begins', ['--from', '2026-02-02', '--to', '2026-02-01'], '--from'],
  ])('rejects %s', async (_what, options, message) => {
    const { code, stderr } = await tool('access', '--clinic', clinic, '--patient', patient.id, ...options)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})
