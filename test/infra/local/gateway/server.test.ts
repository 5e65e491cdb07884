import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { ABANDONED, type Outcome } from '../../../../infra/local/functions/pool.ts'
import { gatewayErrors } from '../../../../infra/local/gateway/errors.ts'
import { formatRequest, type RequestEntry } from '../../../../infra/local/gateway/request-log.ts'
import { routesOf } from '../../../../infra/local/gateway/routes.ts'
import { openGateway } from '../../../../infra/local/gateway/server.ts'
import { throttleOf } from '../../../../infra/local/gateway/throttle.ts'
import { resolveStacks } from '../../../../infra/local/template/stacks.ts'
import type { Template } from '../../../../infra/local/template/template.ts'
import { templatesOf } from '../../../support/template.ts'
import { restApi } from './rest-api.ts'

type Invoke = (
  event: { body: string | null; headers: Record<string, string> },
  abandoned: AbortSignal | undefined,
) => Promise<unknown> | unknown

/** A gateway with one route, `ANY /{proxy+}`, in front of the given function. */
async function gatewayFor(invoke: Invoke, template = restApi(['ANY /things/{proxy+}'])) {
  const entries: RequestEntry[] = []
  const gateway = await openGateway(0, (entry) => entries.push(entry))
  onTestFinished(() => gateway.close())
  gateway.serve({
    api: {
      api: { id: 'api1', stage: 'test', accountId: '000000000000' },
      routes: routesOf(template),
      throttle: throttleOf(template),
      renderError: gatewayErrors(template),
      isFull: () => false,
      invoke: async (_arn, event, _traceId, abandoned): Promise<Outcome> => {
        const value = await invoke(JSON.parse(event), abandoned)
        if (value === LEFT) return { ok: false, error: ABANDONED, diagnostics: [] }
        return value === FAILED
          ? { ok: false, error: { errorType: 'E', errorMessage: 'x', trace: [] }, diagnostics: ['E: x'] }
          : { ok: true, payload: JSON.stringify(value), diagnostics: [] }
      },
    },
    page: ({ method, target, body }) =>
      target === '/_local'
        ? Promise.resolve({ status: 418, headers: [['location', 'x']], body: `${method} ${body}` })
        : undefined,
  })
  const url = `http://127.0.0.1:${gateway.port}`
  return { gateway, entries, get: (path: string, init?: RequestInit) => fetch(`${url}${path}`, init) }
}

/** All stacks of dev. */
function synthesizedTemplate() {
  const stacks = Object.entries(templatesOf('dev')).map(([stackName, template]) => ({
    stackName,
    template: template as Template,
  }))
  return resolveStacks(stacks, { region: 'us-east-1', queueUrl: String })
}

const FAILED = Symbol('failed')
const LEFT = Symbol('left')
const OK = { statusCode: 200, headers: { 'www-authenticate': 'Developer' }, body: '{}' }
const messageOf = async (response: Response) => ((await response.json()) as { message: string }).message

async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(text)
  let response = ''
  socket.on('data', (chunk) => {
    response += chunk
  })
  await once(socket, 'close')
  return response
}

it('returns the response of the function and adds its own headers', async () => {
  const { get, entries } = await gatewayFor(() => OK)
  const response = await get('/things/1')
  expect([response.status, await response.text()]).toEqual([200, '{}'])
  expect(response.headers.get('x-amzn-remapped-www-authenticate')).toBe('Developer')
  expect(response.headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/)
  expect(response.headers.get('x-amz-apigw-id')).toMatch(/^.{15}=$/)
  expect(response.headers.get('x-amz-apigw-id')).toBe(entries[0]?.requestId)
  expect(response.headers.get('x-amzn-trace-id')).toMatch(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/)
})

it('rejects an unmatched request, differently with an Authorization header than without', async () => {
  const { get, entries } = await gatewayFor(() => OK)
  expect((await get('/nothing')).headers.get('x-amzn-errortype')).toBe('MissingAuthenticationTokenException')
  const signed = await get('/nothing', { headers: { authorization: 'Developer k:s' } })
  expect(signed.headers.get('x-amzn-errortype')).toBe('IncompleteSignatureException')
  expect(signed.status).toBe(403)
  expect(await signed.text()).not.toContain('k:s')
  expect(entries.map(({ resource }) => resource)).toEqual([null, null])
})

it.each([
  ['fails', FAILED, ['E: x']],
  ['answers nonsense', 'nonsense', ['Malformed Lambda proxy response']],
])('returns 502 when the function %s', async (_what, value, complaints) => {
  const { get, entries } = await gatewayFor(() => value)
  const response = await get('/things/1')
  expect([response.status, await messageOf(response)]).toEqual([502, 'Internal server error'])
  expect(entries[0]?.diagnostics).toEqual(complaints)
})

it('returns a timeout error when the integration times out', async () => {
  const integration = { type: 'aws_proxy', timeoutInMillis: 60, uri: 'functions/arn:slow/invocations' }
  const Body = { paths: { '/': { get: { 'x-amazon-apigateway-integration': integration } } } }
  const template = restApi([], { Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Body } } })
  const { get } = await gatewayFor(() => new Promise(() => {}), template)
  const response = await get('/')
  expect([response.status, await messageOf(response)]).toEqual([504, 'Endpoint request timed out'])
})

it('abandons the invocation of a client that disconnects, and logs no error', async () => {
  const invoked = Promise.withResolvers<AbortSignal | undefined>()
  const { get, entries } = await gatewayFor((_event, abandoned) => {
    invoked.resolve(abandoned)
    return new Promise((resolve) => abandoned?.addEventListener('abort', () => resolve(LEFT)))
  })
  const client = new AbortController()
  const response = get('/things/1', { signal: client.signal }).catch(() => 'disconnected')
  const abandoned = await invoked.promise
  expect(abandoned?.aborted).toBe(false)
  client.abort()
  expect(await response).toBe('disconnected')
  await expect
    .poll(() => entries.map(({ status, diagnostics }) => [status, diagnostics]))
    .toEqual([[499, []]])
})

it('accepts a body of 6 MB minus the rest of the event, and rejects a larger one', async () => {
  const { get } = await gatewayFor(({ body }) => ({ statusCode: 200, body: String(body?.length) }))
  const post = (size: number) => get('/things/1', { method: 'POST', body: 'x'.repeat(size) })
  expect(await (await post(6_000_000)).text()).toBe('6000000')
  const rejected = await Promise.all([post(6_300_000), post(10_485_761)])
  expect(rejected.map(({ status }) => status)).toEqual([413, 413])
})

it('passes on an Authorization header of 8 KB and rejects headers beyond 10,240 bytes', async () => {
  const { get } = await gatewayFor(({ headers }) => ({
    statusCode: 200,
    body: String(headers.authorization?.length),
  }))
  const withHeader = (size: number) => get('/things/1', { headers: { authorization: 'x'.repeat(size) } })
  expect(await (await withHeader(8192)).text()).toBe('8192')
  expect((await withHeader(11_000)).status).toBe(413)
})

it.each([
  ['a head that is too long', `GET /things/1 HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(70_000)}\r\n\r\n`, 413],
  ['what is no HTTP', 'HELLO\r\n\r\n', 400],
  ['a header name with a space', 'GET /things/1 HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n', 400],
])('rejects %s with the API’s error shape', async (_what, text, status) => {
  const { gateway, entries } = await gatewayFor(() => OK)
  const response = await sendRaw(gateway.port, text)
  expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(response).toContain('{"message":')
  expect(response).toContain(`x-amz-apigw-id: ${entries[0]?.requestId}`)
})

it('passes on any number of headers', async () => {
  const { get } = await gatewayFor(({ headers }) => ({ statusCode: 200, body: headers['x-3000'] ?? 'lost' }))
  const many = Object.fromEntries(Array.from({ length: 3000 }, (_x, n) => [`x-${n + 1}`, 'y']))
  expect(await (await get('/things/1', { headers: many })).text()).toBe('y')
})

it('serves local pages before the API', async () => {
  const { get, entries } = await gatewayFor(() => OK)
  const response = await get('/_local', { method: 'POST', body: 'hello' })
  expect([response.status, response.headers.get('location'), await response.text()]).toEqual([
    418,
    'x',
    'POST hello',
  ])
  expect((await get('/_local/other', { method: 'POST' })).status).toBe(403)
  expect(entries.length).toBe(1)
})

it('throws an error that names the port when it is in use', async () => {
  const { gateway } = await gatewayFor(() => OK)
  await expect(openGateway(gateway.port, () => {})).rejects.toThrow(
    `Port ${gateway.port} is in use by another program. Choose another one with --port.`,
  )
})

it('waits for open requests when it closes, up to a limit', async () => {
  const { gateway, get } = await gatewayFor(
    ({ body }) =>
      new Promise((resolve) => {
        if (body === 'soon') setTimeout(resolve, 200, OK)
      }),
  )
  const post = (body: string) =>
    get('/things/1', { method: 'POST', body }).then(
      ({ status }) => status,
      () => 'cut',
    )
  const responses = Promise.all([post('soon'), post('never')])
  await new Promise((resolve) => setTimeout(resolve, 50))
  const startedAt = performance.now()
  await gateway.close()
  expect(performance.now() - startedAt).toBeLessThan(1900)
  expect(await responses).toEqual([200, 'cut'])
})

it('responds to a mock without a function, and rejects bodies of other types with a 415', async () => {
  const invoke = () => expect.fail('a function was invoked')
  const { get, entries } = await gatewayFor(invoke, synthesizedTemplate())
  const path = '/api/developer/v1/patients'
  const rejected = await get(path, { method: 'DELETE' })
  expect([rejected.status, rejected.headers.get('allow'), await rejected.json()]).toEqual([
    405,
    'GET, POST',
    { error: 'METHOD_NOT_ALLOWED', message: 'errors.developer_api.method_not_allowed' },
  ])
  expect(rejected.headers.get('x-request-id')).toBe(entries[0]?.requestId)
  expect(rejected.headers.get('cache-control')).toBe('no-store')
  const put = (type: string) => get(path, { method: 'PUT', body: '{', headers: { 'content-type': type } })
  expect((await put('application/json; charset=utf-8')).status).toBe(405)
  expect((await put('text/plain')).status).toBe(405)
  expect([(await put('image/png')).status, entries.at(-1)?.status]).toEqual([415, 415])
  const unknown = await get('/api/developer/v1/none/at/all')
  expect([unknown.status, unknown.headers.get('allow'), await unknown.json()]).toEqual([
    404,
    null,
    { error: 'NOT_FOUND', message: 'errors.developer_api.route_not_found' },
  ])
})

it('logs a request as one aligned line, with errors below it', () => {
  const entry = {
    status: 500,
    method: 'GET',
    resource: '/patients/{id}',
    durationMs: 12.4,
    requestId: 'request-1',
  }
  expect(formatRequest({ ...entry, diagnostics: ['internal: TypeError', 'at x'] }, 20, '12:00:01')).toBe(
    [
      '12:00:01  500  GET      /patients/{id}           12 ms  request-1',
      '               internal: TypeError',
      '               at x',
    ].join('\n'),
  )
  expect(formatRequest({ ...entry, resource: null, diagnostics: [] }, 20, '12:00:01')).toContain(
    'GET      (no route)  ',
  )
})
