/** The operator's log group on AWS. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deployedOperatorLog } from '../../../../bin/clinic/tool/operator-log.ts'

const ARN = 'arn:aws:sts::123456789012:assumed-role/Operator/ada'
const IDENTITY = `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>${ARN}</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`

type Received = { headers: IncomingHttpHeaders; body: string }

/** Plays STS and CloudWatch Logs. */
async function services({
  sts = { status: 200, body: IDENTITY },
  logs = { status: 200, body: '{"nextSequenceToken":"1"}' },
} = {}) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    const { status, body } = request.headers['x-amz-target'] ? logs : sts
    response.writeHead(status).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  vi.stubEnv('AWS_ENDPOINT_URL', endpoint)
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIATEST')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  onTestFinished(() => void vi.unstubAllEnvs())
  return { received, open: () => deployedOperatorLog('operator-group') }
}

describe('the log of a deployed stack', () => {
  it('names the caller that STS sees, and writes lines as CloudWatch Logs takes them', async () => {
    const { received, open } = await services()
    const { operator, put } = await open()
    expect(operator).toBe(ARN)
    await put(
      [
        { type: 'access', n: 1 },
        { type: 'access', n: 2 },
      ],
      1_790_000_000_000,
    )
    const [identity, written] = received
    expect(identity?.body).toBe('Action=GetCallerIdentity&Version=2011-06-15')
    expect(written?.headers).toMatchObject({
      'x-amz-target': 'Logs_20140328.PutLogEvents',
      'content-type': 'application/x-amz-json-1.1',
    })
    expect(JSON.parse(written?.body ?? '')).toEqual({
      logGroupName: 'operator-group',
      logStreamName: 'operator',
      logEvents: [
        { timestamp: 1_790_000_000_000, message: '{"type":"access","n":1}' },
        { timestamp: 1_790_000_000_000, message: '{"type":"access","n":2}' },
      ],
    })
  })

  it('rejects when STS does not answer with a caller', async () => {
    const body =
      '<ErrorResponse><Error><Code>ExpiredToken</Code><Message>expired</Message></Error></ErrorResponse>'
    const { open } = await services({ sts: { status: 403, body } })
    await expect(open()).rejects.toMatchObject({
      name: expect.stringContaining('ExpiredToken'),
      message: 'expired',
    })
    const other = await services({ sts: { status: 200, body: IDENTITY.replace(/<Arn>.*<.Arn>/, '') } })
    await expect(other.open()).rejects.toThrow('STS did not say who the caller is.')
  })

  it.each([
    [
      'an error',
      {
        status: 400,
        body: '{"__type":"AccessDeniedException","message":"not authorized to perform logs:PutLogEvents"}',
      },
      /not authorized/,
    ],
    [
      'events that are too old',
      { status: 200, body: '{"rejectedLogEventsInfo":{"tooOldLogEventEndIndex":1}}' },
      /rejected the line/,
    ],
  ])('rejects when CloudWatch Logs answers with %s', async (_what, logs, message) => {
    const { open } = await services({ logs })
    await expect((await open()).put([{}], 0)).rejects.toThrow(message)
  })
})
