/** The operator's log group on AWS: two requests, signed with the credentials of another client of the SDK. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { CloudFormationClient } from '@aws-sdk/client-cloudformation'
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
  vi.stubEnv('AWS_ENDPOINT_URL_STS', endpoint)
  vi.stubEnv('AWS_ENDPOINT_URL_LOGS', endpoint)
  onTestFinished(() => void vi.unstubAllEnvs())
  const client = new CloudFormationClient({
    region: 'eu-central-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret', sessionToken: 'session' },
  })
  return { received, open: () => deployedOperatorLog(client, 'operator-group') }
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

  it('signs each request for its service and region, its body and its host included', async () => {
    const { received, open } = await services()
    await (await open()).put([{}], 0)
    const scopes = received.map(({ headers }) => {
      const signature =
        /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/(\S+)\/aws4_request, SignedHeaders=(\S+), Signature=[0-9a-f]{64}$/
      const [, scope, signed] = signature.exec(headers.authorization ?? '') ?? []
      expect(signed?.split(';')).toEqual(
        expect.arrayContaining(['host', 'x-amz-content-sha256', 'x-amz-security-token']),
      )
      return scope
    })
    expect(scopes).toEqual(['eu-central-1/sts', 'eu-central-1/logs'])
  })

  it('rejects when STS does not answer with a caller', async () => {
    const { open } = await services({ sts: { status: 403, body: '<Code>ExpiredToken</Code>' } })
    await expect(open()).rejects.toThrow('403 <Code>ExpiredToken</Code>')
    const other = await services({ sts: { status: 200, body: '<html>' } })
    await expect(other.open()).rejects.toThrow('STS did not say who the caller is.')
  })

  it.each([
    ['an error', { status: 400, body: '{"__type":"AccessDeniedException"}' }, /400 .*AccessDenied/],
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
