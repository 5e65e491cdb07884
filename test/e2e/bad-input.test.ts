/** Hostile requests over HTTP: each gets the documented 4xx, and no response is large. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { BAD_BODIES, hostileAuthorizations } from '../support/bad-input.ts'
import { issueCredential } from '../support/credentials.ts'
import { get, post, type RunningStack, runStack } from '../support/local-stack.ts'
import { newClinic } from '../support/table.ts'

const MAX_ERROR_BYTES = 64 * 1024
const UNAUTHORIZED = '{"error":"UNAUTHORIZED","message":"errors.developer_api.unauthorized"}'

let stack: RunningStack
let clinic: Clinic
let pair: string

beforeAll(async () => {
  stack = await runStack({ demo: false })
  clinic = await newClinic(stack.table)
  const { key, secret } = await issueCredential(stack.table, clinic)
  pair = `${key}:${secret}`
  expect((await get(stack, '/patients', pair)).status).toBe(200)
})
afterAll(() => stack?.close())

/** Sends a request as bytes, which no HTTP client would send, and returns its status and body. */
async function sendBytes(...headers: string[]): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(stack.baseUrl)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const lines = ['GET /api/developer/v1/patients HTTP/1.1', 'host: x', 'connection: close', ...headers]
  socket.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'utf8'))
  const response = await text(socket)
  const [head = '', ...body] = response.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), body: body.join('\r\n\r\n') }
}

describe('an Authorization header', () => {
  it('gets the same 401 in each of 28 hostile forms, unless it cannot be parsed as HTTP', async () => {
    const values = hostileAuthorizations(pair)
    expect(values.length).toBe(28)
    const responses = []
    for (const value of values) {
      const { status, body } = await sendBytes(`authorization: ${value}`)
      responses.push([value, status, body.includes(UNAUTHORIZED)])
    }
    const isUnparsable = (value: string) => value.includes('\u0000')
    expect(responses).toEqual(
      values.map((value) => (isUnparsable(value) ? [value, 400, false] : [value, 401, true])),
    )
  })

  it('gets a 401 when it is sent twice, or missing', async () => {
    const valid = `authorization: Developer ${pair}`
    expect((await sendBytes(valid)).status).toBe(200)
    for (const headers of [[], [valid, valid], [valid, 'authorization: Bearer x']])
      expect(await sendBytes(...headers)).toMatchObject({
        status: 401,
        body: expect.stringContaining(UNAUTHORIZED),
      })
  })
})

describe('a body', () => {
  it('is one of 56 bad ones', () => {
    expect(BAD_BODIES.length).toBe(56)
  })

  it.each(BAD_BODIES.map((bad) => [bad.name, bad] as const))(
    'gets a small 4xx: %s',
    async (_name, { path, body, status, contentType }) => {
      const headers: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType }
      const response = await post(stack, path, body, { pair, headers })
      expect(response.status).toBe(status)
      expect(response.text.length).toBeLessThan(MAX_ERROR_BYTES)
    },
  )

  it('creates nothing', async () => {
    for (const path of ['/patients', '/webhooks'])
      expect((await get(stack, path, pair)).body.meta.total).toBe(0)
  })
})
