import { expect, it } from 'vitest'
import { readEvent } from '../../../../infra/local/events/bus-event.ts'
import { localPages } from '../../../../infra/local/gateway/pages.ts'
import { putLogEvents } from '../../../../infra/local/logs/put-log-events.ts'
import type { Sms } from '../../../../infra/local/providers/sms-outbox.ts'

const SMS: Sms = {
  message_id: 'sms-1',
  to: '+12015550199',
  message: '<script>alert("x")</script> & \'more\'',
  sender_id: '<Clinic>',
  max_price: '0.50',
  type: 'Transactional',
  at: '2026-01-02T03:04:05.678Z',
}
const EVENT = { source: 'aws.ses', 'detail-type': 'Email Bounced', detail: { eventType: 'Bounce' } }

function pages() {
  const sms: Sms[] = []
  const injected: unknown[] = []
  const logged: unknown[] = []
  const page = localPages({
    about: { stack: 'Test' },
    providers: {
      inboxUrl: 'http://127.0.0.1:5/',
      sms: () => sms,
      emails: async () => sms.map(() => ({ message_id: 'ses-1' }) as never),
    },
    putLogEvents: (body) => putLogEvents(body, { write: (...written) => logged.push(written) }),
    inject: async (text) => {
      injected.push(readEvent(text, 'eu-central-1'))
      return { matched: ['Rule'] }
    },
  })
  const askWith = (rawHeaders: readonly string[], target: string, method = 'GET', body = '') =>
    page({ method, target, rawHeaders, body: Buffer.from(body) })
  const ask = (target: string, accept?: string, method = 'GET', body = '') =>
    askWith(
      ['Host', '127.0.0.1:3000', 'X-Name', 'accept', ...(accept === undefined ? [] : ['Accept', accept])],
      target,
      method,
      body,
    )
  return { sms, injected, logged, ask, askWith }
}

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

it('show the current content of the outbox and the inbox', async () => {
  const { sms, ask } = pages()
  const read = async (target: string) => JSON.parse((await ask(target))?.body ?? '')
  expect([await read('/_local/sms'), await read('/_local/emails')]).toEqual([[], []])
  sms.push(SMS)
  expect(await read('/_local/sms')).toEqual([SMS])
  expect(await read('/_local/emails/?since=1')).toEqual([{ message_id: 'ses-1' }])
  expect(await read('/_local')).toEqual({ stack: 'Test' })
})

it.each([
  [BROWSER, true],
  ['text/html', true],
  ['application/json;q=0.5, Text/HTML;q=0.6', true],
  ['application/json, text/html', false],
  ['text/html;q=0.5, application/json', false],
  ['*/*', false],
  ['application/json', false],
  [undefined, false],
])('for Accept: %s, whether HTML is returned: %s', async (accept, html) => {
  const { ask } = pages()
  const sms = await ask('/_local/sms', accept)
  expect(sms?.headers[0]).toEqual([
    'content-type',
    `${html ? 'text/html' : 'application/json'}; charset=utf-8`,
  ])
  expect((await ask('/_local/emails', accept))?.status).toBe(html ? 302 : 200)
})

it('list SMS as HTML for browsers, newest first and escaped', async () => {
  const { sms, ask } = pages()
  expect((await ask('/_local/sms', BROWSER))?.body).toContain('No SMS yet')
  sms.push({ ...SMS, message: 'first', sender_id: null }, SMS)
  const { body = '' } = (await ask('/_local/sms', BROWSER)) ?? {}
  expect(body).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;more&#39;')
  expect(body).toContain('&lt;Clinic&gt;')
  expect(body).not.toMatch(/<script|<Clinic/)
  expect(body.indexOf('&lt;script')).toBeLessThan(body.indexOf('first'))
  expect(body).toContain('<meta http-equiv="refresh"')
})

it('put a posted event on the bus', async () => {
  const { injected, ask } = pages()
  const response = await ask('/_local/events', undefined, 'POST', JSON.stringify(EVENT))
  expect([response?.status, JSON.parse(response?.body ?? '')]).toEqual([200, { matched: ['Rule'] }])
  const whole = { ...EVENT, id: 'event-1', resources: ['arn:x'], time: '2026-01-01T00:00:00Z', region: 'x' }
  await ask('/_local/events', undefined, 'POST', JSON.stringify(whole))
  const filled = { version: '0', account: '000000000000' }
  expect(injected).toEqual([
    {
      ...filled,
      ...EVENT,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      resources: [],
      region: 'eu-central-1',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    },
    { ...filled, ...whole },
  ])
})

const eventWith = (fields: object) => JSON.stringify({ ...EVENT, ...fields })

it.each([
  ['no JSON', 'hello', 'An event must be a JSON object.'],
  ['no source', eventWith({ source: undefined }), 'An event needs the field "source".'],
  ['a detail in text', eventWith({ detail: '{}' }), 'The field "detail" of an event must be an object.'],
  ['PutEvents’ own names', eventWith({ DetailType: 'x' }), 'An event has no field "DetailType".'],
])('reject an event that is invalid: %s', async (_what, body, message) => {
  const { injected, ask } = pages()
  const response = await ask('/_local/events', undefined, 'POST', body)
  expect([response?.status, JSON.parse(response?.body ?? '')]).toEqual([400, { message }])
  expect(injected).toEqual([])
})

it.each([
  ['GET', '/_local/events'],
  ['POST', '/_local/sms'],
  ['GET', '/_local/other'],
])('leave %s %s to the API', (method, target) => {
  expect(pages().ask(target, undefined, method)).toBeUndefined()
})

it('write the events of PutLogEvents to their log group, and reject other bodies', async () => {
  const { logged, ask } = pages()
  const put = async (body: unknown) =>
    (await ask('/_local/logs', undefined, 'POST', JSON.stringify(body)))?.status
  const logEvents = [
    { timestamp: 1, message: 'one' },
    { timestamp: 2, message: 'two' },
  ]
  expect(await put({ logGroupName: 'group', logStreamName: 'stream', logEvents })).toBe(200)
  expect(logged).toEqual([
    ['group', 'one'],
    ['group', 'two'],
  ])
  expect([await put({ logEvents }), await put({ logGroupName: 'group' }), await put(null)]).toEqual([
    400, 400, 400,
  ])
  expect((await ask('/_local/logs', undefined, 'POST', 'no JSON'))?.status).toBe(400)
})

it.each([
  ['the loopback address', ['Host', '127.0.0.1:3000']],
  ['the loopback address of IPv6', ['Host', '[::1]:3000']],
  ['localhost on a forwarded port', ['host', 'LocalHost:8080']],
  ['a page of the stack itself', ['Host', 'localhost:3000', 'Origin', 'http://localhost:3000']],
])('respond to a request for %s', async (_what, headers) => {
  const { injected, askWith } = pages()
  expect((await askWith(headers, '/_local'))?.status).toBe(200)
  expect((await askWith(headers, '/_local/events', 'POST', JSON.stringify(EVENT)))?.status).toBe(200)
  expect(injected.length).toBe(1)
})

it.each([
  ['a name that another site pointed to this machine', ['Host', 'rebound.example:3000']],
  ['a name that begins like this machine’s', ['Host', '127.0.0.1.example:3000']],
  ['a name that ends like this machine’s', ['Host', 'example.localhost:3000']],
  ['no name', []],
  ['two names', ['Host', 'localhost:3000', 'Host', 'rebound.example']],
  ['a page of another site', ['Host', 'localhost:3000', 'Origin', 'https://attacker.example']],
  ['a page on another port', ['Host', 'localhost:3000', 'Origin', 'http://localhost:5173']],
  ['a page without an origin of its own', ['Host', 'localhost:3000', 'Origin', 'null']],
  [
    'a second origin',
    ['Host', 'localhost:3000', 'Origin', 'http://localhost:3000', 'Origin', 'http://attacker.example'],
  ],
])('reject a request with %s, and do nothing', async (_what, headers) => {
  const { sms, injected, askWith } = pages()
  sms.push(SMS)
  for (const target of ['/_local', '/_local/sms', '/_local/emails']) {
    const response = await askWith(headers, target)
    expect([response?.status, response?.body]).toEqual([403, expect.not.stringContaining('sms-1')])
  }
  expect((await askWith(headers, '/_local/events', 'POST', JSON.stringify(EVENT)))?.status).toBe(403)
  expect(injected).toEqual([])
})
