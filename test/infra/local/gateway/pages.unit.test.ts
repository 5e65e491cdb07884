import { expect, it } from 'vitest'
import { localPages } from '../../../../infra/local/gateway/pages.ts'
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

function pages() {
  const sms: Sms[] = []
  const logged: unknown[] = []
  const page = localPages({
    about: { stack: 'Test' },
    providers: {
      sms: () => sms,
      emails: () => sms.map(() => ({ message_id: 'ses-1' }) as never),
    },
    writeLogs: (...written) => logged.push(written),
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
  return { sms, logged, ask, askWith }
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
})

it('list SMS as HTML for browsers, newest first and escaped', async () => {
  const { sms, ask } = pages()
  sms.push({ ...SMS, message: 'first', sender_id: null }, SMS)
  const { body = '' } = (await ask('/_local/sms', BROWSER)) ?? {}
  expect(body).toContain('&#60;script&#62;alert(&#34;x&#34;)&#60;/script&#62; &#38; &#39;more&#39;')
  expect(body).toContain('&#60;Clinic&#62;')
  expect(body).not.toMatch(/<script|<Clinic/)
  expect(body.indexOf('&#60;script')).toBeLessThan(body.indexOf('first'))
  expect(body).toContain('<meta http-equiv="refresh"')
})

it.each([
  ['POST', '/_local/sms'],
  ['GET', '/_local/other'],
])('leave %s %s to the API', (method, target) => {
  expect(pages().ask(target, undefined, method)).toBeUndefined()
})

it('write the events of PutLogEvents to their log group', async () => {
  const { logged, ask } = pages()
  const logEvents = [
    { timestamp: 1, message: 'one' },
    { timestamp: 2, message: 'two' },
  ]
  const body = JSON.stringify({ logGroupName: 'group', logStreamName: 'stream', logEvents })
  expect((await ask('/_local/logs', undefined, 'POST', body))?.status).toBe(200)
  expect(logged).toEqual([
    ['group', 'one'],
    ['group', 'two'],
  ])
})

it.each([
  ['the loopback address', ['Host', '127.0.0.1:3000']],
  ['the loopback address of IPv6', ['Host', '[::1]:3000']],
  ['localhost on a forwarded port', ['host', 'LocalHost:8080']],
  ['a page of the stack itself', ['Host', 'localhost:3000', 'Origin', 'http://localhost:3000']],
])('respond to a request for %s', async (_what, headers) => {
  expect((await pages().askWith(headers, '/_local'))?.status).toBe(200)
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
  const { sms, logged, askWith } = pages()
  sms.push(SMS)
  for (const target of ['/_local', '/_local/sms', '/_local/emails']) {
    const response = await askWith(headers, target)
    expect([response?.status, response?.body]).toEqual([403, expect.not.stringContaining('sms-1')])
  }
  expect((await askWith(headers, '/_local/logs', 'POST', '{}'))?.status).toBe(403)
  expect(logged).toEqual([])
})
