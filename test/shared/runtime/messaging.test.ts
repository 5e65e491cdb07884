/** The clients of SQS, SNS and SES with the settings of functions, against servers that behave badly. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { SNSClient } from '@aws-sdk/client-sns'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { smsSender } from '../../../shared/delivery/sms/sms.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import {
  openEmail,
  openEmailQueue,
  openSms,
  SMS_DEADLINE_MS,
  smsDeadline,
} from '../../../shared/runtime/messaging.ts'
import { withScope } from '../../../shared/store/table/request-scope.ts'
import { stubFunctionEnvironment } from '../../support/functions.ts'

let server: Server | undefined
const sockets = new Set<Socket>()

beforeEach(() => stubFunctionEnvironment('none'))
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  if (server) await once(server.close(), 'close')
})

/** Serves both providers with `listener`. */
async function serve(listener: RequestListener): Promise<void> {
  server = createServer(listener).listen(0, '127.0.0.1')
  server.on('connection', (socket) => sockets.add(socket))
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  vi.stubEnv('AWS_ENDPOINT_URL_SNS', endpoint)
  vi.stubEnv('AWS_ENDPOINT_URL_SESV2', endpoint)
  vi.stubEnv('AWS_ENDPOINT_URL_SQS', endpoint)
}

const SNS_REPLY =
  '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>m1</MessageId></PublishResult></PublishResponse>'

const sendSms = (sender = openSms(), deadline = AbortSignal.timeout(5000)) =>
  sender.send({ recipient: '+905321234567', text: 'See you at ten' }, deadline)

const EMAIL = {
  clinic: 'c1',
  message: 'm1',
  fromName: 'Praxis Nord',
  replyTo: null,
  recipient: 'ada@example.com',
  subject: 'Your appointment',
  text: 'See you at ten',
  waits: 0,
}

it('queues an email at the endpoint of the SDK, whatever host the URL of the queue has', async () => {
  vi.stubEnv('EMAIL_QUEUE_URL', 'http://unreachable.invalid/123456789012/emails')
  let received = ''
  await serve(async (request, response) => {
    received = (await request.toArray()).join('')
    const { MessageBody } = JSON.parse(received)
    const MD5OfMessageBody = createHash('md5').update(MessageBody).digest('hex')
    response
      .writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
      .end(JSON.stringify({ MessageId: 'm1', MD5OfMessageBody }))
  })
  await openEmailQueue().push({ clinic: newUuid() as ClinicId, message: newUuid(), waits: 0 })
  expect(JSON.parse(received)).toMatchObject({ QueueUrl: process.env.EMAIL_QUEUE_URL })
})

describe('after the function was frozen and the server reset its idle connections', () => {
  /** Accepts the first request of each connection, and resets the connection at any further one. */
  const acceptOncePerConnection = async () => {
    const used = new WeakSet<Socket>()
    await serve(async (request, response) => {
      if (used.has(request.socket)) return void request.socket.resetAndDestroy()
      used.add(request.socket)
      await request.resume().toArray()
      if (request.url === '/') response.writeHead(200, { 'content-type': 'text/xml' }).end(SNS_REPLY)
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{"MessageId":"m1"}')
    })
  }

  it('sends the next SMS on a new connection', async () => {
    await acceptOncePerConnection()
    const sender = openSms()
    const results = [await sendSms(sender), await sendSms(sender)]
    expect(results.map(({ kind }) => kind)).toEqual(['accepted', 'accepted'])
  })

  it('sends the next email on a new connection', async () => {
    await acceptOncePerConnection()
    const sender = openEmail()
    const results = [await sender.send(EMAIL), await sender.send(EMAIL)]
    expect(results.map(({ kind }) => kind)).toEqual(['accepted', 'accepted'])
  })
})

describe('the deadline of an SMS', () => {
  it('ends a call that SNS does not answer, closes its connection and leaves the outcome unknown', async () => {
    let closed: Promise<unknown> | undefined
    await serve((request) => {
      closed = once(request.socket, 'close')
    })
    const startedAt = performance.now()
    expect(await sendSms(openSms(), AbortSignal.timeout(200))).toMatchObject({ kind: 'unknown' })
    expect(performance.now() - startedAt).toBeLessThan(1500)
    await closed
  })

  it('ends a response that arrives byte by byte', async () => {
    await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/xml' })
      const drip = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(drip))
    })
    const startedAt = performance.now()
    expect(await sendSms(openSms(), AbortSignal.timeout(300))).toMatchObject({ kind: 'unknown' })
    expect(performance.now() - startedAt).toBeLessThan(1500)
  })

  it('prevents the call when it has passed, and the SMS is certainly not sent', async () => {
    let requests = 0
    await serve(() => requests++)
    expect(await sendSms(openSms(), smsDeadline(Date.now() - SMS_DEADLINE_MS))).toEqual({
      kind: 'unavailable',
      reason: 'Not sent: the request had taken too long',
    })
    expect(requests).toBe(0)
  })

  it('is measured from the start of the request', async () => {
    const deadline = smsDeadline(Date.now() - SMS_DEADLINE_MS + 100)
    expect(deadline.aborted).toBe(false)
    await once(deadline, 'abort')
  })

  it('is also the end of the request', () => {
    const request = new AbortController()
    const deadline = withScope({ signal: request.signal }, () => smsDeadline(Date.now()))
    expect(deadline.aborted).toBe(false)
    request.abort()
    expect(deadline.aborted).toBe(true)
  })
})

it('does not send an SMS whose deadline passed before the client had credentials, and knows that it was not sent', async () => {
  let requests = 0
  await serve((_, response) => {
    requests++
    response.writeHead(200, { 'content-type': 'text/xml' }).end(SNS_REPLY)
  })
  const credentials = async () => {
    await wait(200)
    return { accessKeyId: 'a', secretAccessKey: 'b' }
  }
  const client = new SNSClient({ region: 'eu-central-1', maxAttempts: 1, credentials })
  const sender = smsSender(client, { senderId: 'Clinic', maxPrice: '0.50' })
  const result = await sendSms(sender, AbortSignal.timeout(50))
  expect(result.kind).toBe('unavailable')
  expect(requests).toBe(0)
})
