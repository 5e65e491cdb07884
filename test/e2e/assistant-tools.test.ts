/** The package for assistants as they start it: its tools are called with the protocol's own client, over stdio. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest'
import { ROUTES } from '../../shared/api/routes.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { clientPackage } from '../support/client-package.ts'
import { get, type RunningStack, runStack } from '../support/local-stack.ts'
import { createRouteSamples, type RouteSamples, requestOf } from '../support/route-samples.ts'

const execute = promisify(execFile)
const ENDPOINTS = ROUTES.filter(({ aliasOf }) => aliasOf === undefined)

let stack: RunningStack
let samples: RouteSamples
let server: string
const receiver = createServer((_request, response) => response.writeHead(204).end()).listen(0, '127.0.0.1')

beforeAll(async () => {
  const folder = mkdtempSync(join(inject('runFolder'), 'assistant-'))
  const installed = join(folder, 'node_modules/clinic-developer-mcp')
  cpSync(await clientPackage('mcp'), installed, { recursive: true })
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(
    resolve('node_modules/@modelcontextprotocol'),
    join(folder, 'node_modules/@modelcontextprotocol'),
  )
  const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  server = join(installed, bin['clinic-developer-mcp'])
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  stack = await runStack({ allowedWebhookHost: host })
  const clinic = await clinicStore(stack).find(stack.clinics[0]?.id as ClinicId)
  if (!clinic) throw new Error('the stack has no demo clinic')
  samples = await createRouteSamples(stack.table, { clinic, webhook: { url: `http://${host}` } })
}, 300_000)
afterAll(async () => {
  await stack?.close()
  receiver.closeAllConnections()
  receiver.close()
})

const credential = (scope: keyof RunningStack['clinics'][number]['credentials'] = 'full') =>
  stack.clinics[0]?.credentials[scope] ?? ''

const environment = (pair: string, api = stack.baseUrl) => ({
  ...getDefaultEnvironment(),
  CLINIC_API: api,
  CLINIC_CREDENTIAL: pair,
})

/** Starts the server, until the end of the test. */
async function connect(pair: string, args: string[] = [], api?: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [server, ...args],
      env: environment(pair, api),
    }),
  )
  onTestFinished(() => client.close())
  return client
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name).sort()

type Outcome = { isError: boolean; text: string; result: any }

async function call(client: Client, name: string, input: Record<string, unknown> = {}): Promise<Outcome> {
  const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: input })
  const [first] = content as { text: string }[]
  return { isError, text: first?.text ?? '', result: structuredContent }
}

/** The result of a call that succeeds. */
async function succeed(client: Client, name: string, input?: Record<string, unknown>): Promise<any> {
  const { isError, text, result } = await call(client, name, input)
  expect([name, isError, isError && text]).toEqual([name, false, false])
  return result.data
}

/** Groups of tools that are offered when they are named. */
const NAMED = {
  schedule: 'schedule',
  'catalogue.write': 'catalogue',
  invoice: 'invoices',
  webhook: 'webhooks',
}
const isNamed = ({ scope }: (typeof ENDPOINTS)[number]) =>
  Object.keys(NAMED).some((start) => String(scope).startsWith(start))
/** A sync is for programs. */
const TOOLS = ENDPOINTS.filter(({ scope }) => scope !== 'sync.write')
const OFFERED = TOOLS.filter((route) => !isNamed(route))
const ALL_GROUPS = 'account,catalogue,patients,appointments,finance,messages,schedule,invoices,webhooks'

it('calls a tool for every operation but sync, with the body as text if --full is given', async () => {
  const client = await connect(credential(), ['--allow-writes', '--full', '--tools', ALL_GROUPS])
  expect(await namesOf(client)).toEqual(TOOLS.map(({ id }) => id).sort())
  for (const route of TOOLS) {
    const { path, query, body = '{}' } = requestOf(route, await samples.idsFor(route))
    const { isError, text, result } = await call(client, route.id, { ...path, ...query, ...JSON.parse(body) })
    expect([route.id, isError, isError && text]).toEqual([route.id, false, false])
    expect(JSON.parse(text)).toEqual(result)
  }
  // Every function of the API is loaded.
}, 300_000)

it('lists without --tools no webhooks, events, schedules, and writes of the catalogue and of invoices', async () => {
  const client = await connect(credential(), ['--allow-writes'])
  expect(await namesOf(client)).toEqual(OFFERED.map(({ id }) => id).sort())
  const part = await connect(credential(), ['--tools', 'patients,invoices'])
  expect(await namesOf(part)).toEqual(['get-patient', 'list-patients'])
})

it('says at the start which clinic it is, and the date, weekday and time zone there', async () => {
  const { body } = await get(stack, '/clinic')
  const { name, timezone } = body.data
  const day = new Date().toLocaleDateString('en-CA', { timeZone: timezone })
  const weekday = new Date(day).toLocaleDateString('en', { timeZone: 'UTC', weekday: 'long' })
  expect((await connect(credential())).getInstructions()).toMatch(
    new RegExp(`the clinic ${name}\\. .* ${weekday}, ${day} \\(${timezone}\\)`),
  )
})

it('returns 20 free slots by default, and says which treatment is inactive when there are none', async () => {
  const client = await connect(credential(), ['--allow-writes', '--tools', 'appointments,catalogue'])
  const [doctor] = await succeed(client, 'list-doctors', { is_active: 'true' })
  const query = { doctor_id: doctor.id, date: '2031-03-03', date_to: '2031-03-14' }
  const { text, result } = await call(client, 'get-availability', { ...query, room_id: null, duration: '' })
  expect(result.data).toHaveLength(20)
  expect(text).toMatch(/^2031-03-03: \d\d:\d\d-\d\d:\d\d, .*\n(.*\n)*More are free: ask with a later date/)
  const treatment = await succeed(client, 'create-treatment', {
    name: 'Peeling',
    duration_minutes: '30',
    price: '100.5',
    is_active: 'false',
  })
  const none = await call(client, 'get-availability', { ...query, treatment_id: treatment.id })
  expect([none.isError, none.text]).toEqual([false, 'Peeling is inactive.\nNone.'])
})

it('holds a time, books it, and moves and cancels the appointment in 9 calls', async () => {
  const client = await connect(credential(), ['--allow-writes'])
  const day = { date: '2031-03-03', date_to: '2031-03-14', limit: 5 }
  const [patient] = await succeed(client, 'list-patients', { limit: 1, is_active: true })
  const [doctor] = await succeed(client, 'list-doctors', { is_active: true })
  const slotsOf = () => succeed(client, 'get-availability', { doctor_id: doctor.id, ...day })
  const [first] = await slotsOf()
  const hold = await succeed(client, 'create-hold', {
    doctor_id: doctor.id,
    appointment_date: first.date,
    start_time: first.start_time,
  })
  const { id } = await succeed(client, 'create-appointment', { patient_id: patient.id, hold_id: hold.id })
  const later = (await slotsOf()).at(-1)
  const moved = { id, appointment_date: later.date, start_time: later.start_time }
  expect(await succeed(client, 'update-appointment', moved)).toMatchObject(moved)
  await succeed(client, 'cancel-appointment', { id, reason: 'The patient called.' })
  expect(await succeed(client, 'get-appointment', { id })).toMatchObject({
    ...moved,
    status: 'cancelled',
    cancellation_reason: 'The patient called.',
  })
})

it('lists only what the scopes of the credential permit, and without --allow-writes only what reads', async () => {
  const permitted = (pair: 'full' | 'patient.read' | 'none', writes: boolean) =>
    OFFERED.filter(
      ({ scope, method }) =>
        (method === 'GET' || writes) && (scope === null || pair === 'full' || scope === pair),
    )
  for (const pair of ['patient.read', 'none'] as const)
    expect(await namesOf(await connect(credential(pair), ['--allow-writes']))).toEqual(
      permitted(pair, true)
        .map(({ id }) => id)
        .sort(),
    )
  const reader = await connect(credential())
  expect(await namesOf(reader)).toEqual(
    permitted('full', false)
      .map(({ id }) => id)
      .sort(),
  )
  await expect(call(reader, 'create-patient', { first_name: 'Ada' })).rejects.toThrow('create-patient')
})

it('returns an error that says what is wrong and what to do, when a call fails', async () => {
  const client = await connect(credential('communication.write.sms'), ['--allow-writes'])
  const unknown = { patient_id: newUuid(), message: 'See you.' }
  const notFound = await call(client, 'send-message', { channel: 'sms', ...unknown })
  expect(notFound).toMatchObject({ isError: true, result: undefined })
  expect(notFound.text).toMatch(/^The patient does not exist\. Check the id\..*\n(.*\n)*x-request-id: \S+$/)
  const denied = await call(client, 'send-message', { channel: 'email', ...unknown })
  expect([denied.isError, denied.text]).toEqual([
    true,
    expect.stringMatching(
      /^The credential does not have the scope named in `details`\. .*\ndetails: .*communication\.write\.email/,
    ),
  ])
  const invalid = { patient: 'Ada', channel: 'sms', message: '', dosage: 1 }
  const { isError, text } = await call(client, 'send-message', invalid)
  expect([isError, text.split('\n').slice(1, -1)]).toEqual([
    true,
    [
      'details: patient is not a field of this request: did you mean patient_id?',
      'details: dosage is not a field of this request (arguments: idempotency_key, channel, patient_id, message, subject)',
      'details: patient_id is required',
      'details: message must not be empty (given: "")',
    ],
  ])
})

it('executes a write once that is repeated with its idempotency key, whatever the order of its fields', async () => {
  const client = await connect(credential(), ['--allow-writes'])
  const idempotency_key = newUuid()
  const first = await succeed(client, 'create-patient', {
    first_name: 'Ada',
    last_name: 'Kaya',
    idempotency_key,
  })
  const again = await succeed(client, 'create-patient', {
    idempotency_key,
    last_name: 'Kaya',
    first_name: 'Ada',
  })
  expect(again).toEqual(first)
})

/** The address of a server in place of the API, until the end of the test. */
async function runApi(respond: RequestListener): Promise<string> {
  const api = createServer(respond).listen(0, '127.0.0.1')
  onTestFinished(() => {
    api.closeAllConnections()
    api.close()
  })
  await once(api, 'listening')
  return `http://127.0.0.1:${(api.address() as AddressInfo).port}`
}

const ACCOUNT = JSON.stringify({
  data: { scopes: ['patient.write'], clinic: { name: 'Test', timezone: 'UTC' } },
})

it('answers initialize while the API hangs, and lists tools after an API that was unavailable', async () => {
  const address = await runApi(() => {})
  const client = await connect('ck_1:cs_1', [], address)
  expect(client.getInstructions()).toContain('which get-clinic returns')
  let requests = 0
  const recovering = await runApi((_, response) => response.writeHead(requests++ ? 200 : 503).end(ACCOUNT))
  expect(await namesOf(await connect('ck_1:cs_1', ['--allow-writes'], recovering))).toContain(
    'create-patient',
  )
})

it('returns the key of a write whose response was lost', async () => {
  const keys: unknown[] = []
  const address = await runApi((request, response) => {
    if (request.method !== 'POST') return response.end(ACCOUNT)
    keys.push(request.headers['idempotency-key'])
    return response.destroy()
  })
  const client = await connect('ck_1:cs_1', ['--allow-writes'], address)
  const { isError, text } = await call(client, 'create-patient', { first_name: 'Ada' })
  const [key] = keys
  expect(keys).toHaveLength(1)
  expect([isError, text]).toEqual([
    true,
    `The connection was lost\nThe request may have taken effect. Repeat it with this key.\nidempotency_key: ${key}`,
  ])
})

it.each<[string, string[], Record<string, string>, string]>([
  [
    'a credential that does not exist',
    [],
    { CLINIC_CREDENTIAL: 'ck_1:cs_1' },
    'The credential is missing or invalid.',
  ],
  ['no credential', [], { CLINIC_CREDENTIAL: '' }, 'set CLINIC_API and CLINIC_CREDENTIAL'],
  ['a malformed address', [], { CLINIC_API: 'clinic' }, 'baseUrl must be the http or https address'],
  ['an unknown option', ['--allow-write'], {}, "Unknown option '--allow-write'"],
  ['an unknown group of tools', ['--tools', 'patient'], {}, '--tools has no group patient: account'],
])('ends with one error on stderr when it is started with %s', async (_, args, variables, message) => {
  const env = { ...environment(credential()), ...variables }
  const { code, stdout, stderr } = await execute(process.execPath, [server, ...args], { env }).catch(
    (error) => error,
  )
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(`clinic-developer-mcp: ${message}`)
})
