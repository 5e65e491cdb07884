/** How responses and network failures, seen through the SDK's clients, are classified. */
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2'
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { emailSender } from '../../../shared/delivery/email/email.ts'
import { LOST_RESPONSE, toSendResult } from '../../../shared/delivery/send-result.ts'
import { smsSender } from '../../../shared/delivery/sms/sms.ts'
import { openEmail, openSms } from '../../../shared/runtime/messaging.ts'
import { stubFunctionEnvironment } from '../../support/functions.ts'

type Respond = (response: ServerResponse, request: IncomingMessage) => void

/** Patient data in an error message of the provider: it must not appear in a reason. */
const CANARY = 'CANARY-7351 +905321234567'

let server: Server
let endpoint: string
let closedPort: string
let respond: Respond
let bodies: string[]

beforeAll(async () => {
  const listening = async (listener?: (request: IncomingMessage, response: ServerResponse) => void) => {
    const one = createServer(listener).listen(0, '127.0.0.1')
    await once(one, 'listening')
    return { one, url: `http://127.0.0.1:${(one.address() as { port: number }).port}` }
  }
  const main = await listening(async (request, response) => {
    bodies.push(await text(request))
    respond(response, request)
  })
  server = main.one
  endpoint = main.url
  const other = await listening()
  closedPort = other.url
  other.one.close()
  await once(other.one, 'close')
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

beforeEach(() => {
  bodies = []
})

afterEach(() => {
  vi.unstubAllEnvs()
})

const settings = (url = endpoint) => ({
  endpoint: url,
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  maxAttempts: 1,
  requestHandler: {
    connectionTimeout: 200,
    requestTimeout: 200,
    socketTimeout: 200,
    throwOnRequestTimeout: true,
  },
})

const publish = (client: SNSClient) =>
  client.send(new PublishCommand({ PhoneNumber: '+905321234567', Message: 'See you at ten' }))
const sendEmail = (client: SESv2Client) =>
  client.send(
    new SendEmailCommand({
      FromEmailAddress: 'clinic@example.com',
      Destination: { ToAddresses: ['ada@example.com'] },
      Content: { Simple: { Subject: { Data: 'x' }, Body: { Text: { Data: 'x' } } } },
    }),
  )

const PROVIDERS = {
  sns: (url?: string) => publish(new SNSClient(settings(url))),
  ses: (url?: string) => sendEmail(new SESv2Client(settings(url))),
}

/** The error that the client throws. */
const thrown = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (answer) => expect.unreachable(`was accepted: ${JSON.stringify(answer)}`),
    (error) => error,
  )

const snsError =
  (status: number, code: string, message = ''): Respond =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'text/xml' })
      .end(
        `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message} ${CANARY}</Message></Error><RequestId>r-1</RequestId></ErrorResponse>`,
      )

const sesError =
  (status: number, type: string, message = ''): Respond =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type })
      .end(JSON.stringify({ message: `${message} ${CANARY}` }))

const html =
  (status: number): Respond =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end(`<html><body>${CANARY}</body></html>`)

const reset: Respond = (response) => response.destroy()
const hang: Respond = () => {}
/** The beginning of a response. */
const cutOff =
  (status: number): Respond =>
  (response) => {
    response.writeHead(status, { 'content-length': 1000 })
    response.write('<')
    setTimeout(() => response.destroy(), 10)
  }
const stalled: Respond = (response) => {
  response.writeHead(200, { 'content-length': 1000 })
  response.write('<')
}

type Kind = 'rejected' | 'unavailable' | 'unknown'

/** Status, name and the resulting kind; and the text, if it decides. */
type ErrorCase = readonly [status: number, name: string, kind: Kind, text?: string]

const SNS_ERRORS: ErrorCase[] = [
  // Errors of one message or number.
  [400, 'InvalidParameter', 'rejected'],
  [400, 'ParameterValueInvalid', 'rejected'],
  [400, 'ValidationException', 'rejected'],
  [400, 'OptedOut', 'rejected'],
  // Errors that affect every message.
  [429, 'Throttled', 'unavailable'],
  [400, 'Throttling', 'unavailable'],
  [400, 'InvalidParameter', 'unavailable', 'Invalid parameter: MessageAttributes Reason: SenderID'],
  [403, 'AuthorizationError', 'unavailable'],
  [403, 'InvalidClientTokenId', 'unavailable'],
  [403, 'SignatureDoesNotMatch', 'unavailable'],
  [403, 'ExpiredToken', 'unavailable'],
  [403, 'OptInRequired', 'unavailable'],
  [400, 'RequestExpired', 'unavailable'],
  [404, 'NotFound', 'unavailable'],
  [503, 'ServiceUnavailable', 'unavailable'],
  // The message may have been sent.
  [500, 'InternalError', 'unknown'],
  [500, 'InternalFailure', 'unknown'],
]

const SES_ERRORS: ErrorCase[] = [
  [400, 'MessageRejected', 'rejected', 'Address blacklisted.'],
  [400, 'BadRequestException', 'rejected'],
  [400, 'ValidationException', 'rejected'],
  // The account or its settings are at fault.
  [400, 'MessageRejected', 'unavailable'],
  [400, 'MessageRejected', 'unavailable', 'Email address is not verified. The following identities failed:'],
  [400, 'MessageRejected', 'unavailable', 'Email address is not verified: a@virus-centre.example'],
  [400, 'MessageRejected', 'unavailable', 'Sending paused for this account.'],
  [400, 'BadRequestException', 'unavailable', 'Configuration set <mail> does not exist.'],
  [429, 'TooManyRequestsException', 'unavailable'],
  [400, 'LimitExceededException', 'unavailable'],
  [400, 'AccountSuspendedException', 'unavailable'],
  [400, 'SendingPausedException', 'unavailable'],
  [400, 'MailFromDomainNotVerifiedException', 'unavailable'],
  [404, 'NotFoundException', 'unavailable'],
  [403, 'AccessDeniedException', 'unavailable'],
  [403, 'ExpiredTokenException', 'unavailable'],
  [503, 'ServiceUnavailable', 'unavailable'],
  [500, 'InternalFailure', 'unknown'],
]

describe.each([
  ['sns', SNS_ERRORS, snsError],
  ['ses', SES_ERRORS, sesError],
] as const)('an error of %s', (provider, errors, respondWith) => {
  it.each(errors.map(([status, name, kind, text = '']) => [status, name, text, kind] as const))(
    'of status %i named %s with the text "%s" is %s',
    async (status, name, message, kind) => {
      respond = respondWith(status, name, message)
      const result = toSendResult(await thrown(PROVIDERS[provider]()))
      expect(result.kind).toBe(kind)
      expect(result.reason).not.toMatch(/CANARY|532/)
      expect(bodies.length).toBe(1)
    },
  )
})

describe.each(['sns', 'ses'] as const)('a failure between the client and %s', (provider) => {
  it.each<[string, Respond, Kind]>([
    ['a proxy’s 500', html(500), 'unknown'],
    ['a proxy’s 502', html(502), 'unknown'],
    ['a proxy’s 504', html(504), 'unknown'],
    ['a redirect', html(301), 'unknown'],
    ['a gateway’s 503', html(503), 'unknown'],
    ['a firewall’s 403', html(403), 'unavailable'],
    ['a reset before the response', reset, 'unknown'],
    ['a response that is cut off', cutOff(200), 'unknown'],
    ['a response that stalls', stalled, 'unknown'],
    ['no response', hang, 'unknown'],
  ])('such as %s is %s', async (_what, answer, kind) => {
    respond = answer
    const result = toSendResult(await thrown(PROVIDERS[provider]()))
    expect(result.kind).toBe(kind)
    if (kind === 'unknown') expect(result.reason).toBe(LOST_RESPONSE)
    expect(result.reason).not.toMatch(/CANARY|532/)
    expect(bodies.length).toBe(1)
  })

  it.each([
    ['the port is closed', () => closedPort, /: ECONNREFUSED$/],
    ['all addresses are closed', () => closedPort.replace('127.0.0.1', 'localhost'), /: ECONNREFUSED$/],
    ['the host is unknown', () => 'http://nowhere.invalid', /: (ENOTFOUND|EAI_AGAIN)$/],
  ])('is unavailable when %s', async (_what, url, reason) => {
    expect(toSendResult(await thrown(PROVIDERS[provider](url())))).toEqual({
      kind: 'unavailable',
      reason: expect.stringMatching(reason),
    })
  })

  it('is unavailable when no connection is established in time', async () => {
    const httpAgent = new Agent()
    httpAgent.createConnection = () => Object.assign(new Socket(), { connecting: true })
    const unconnected = settings()
    const options = { ...unconnected, requestHandler: { ...unconnected.requestHandler, httpAgent } }
    const call = provider === 'sns' ? publish(new SNSClient(options)) : sendEmail(new SESv2Client(options))
    expect(toSendResult(await thrown(call))).toEqual({
      kind: 'unavailable',
      reason: 'The provider could not be reached: TimeoutError',
    })
  })

  it('is unknown when the server does not speak TLS', async () => {
    respond = hang
    const result = toSendResult(await thrown(PROVIDERS[provider](endpoint.replace('http:', 'https:'))))
    expect(result.kind).toBe('unknown')
  })

  it('is unavailable without credentials, and no request is made', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE'])
      vi.stubEnv(name, undefined)
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
    for (const name of ['AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE']) vi.stubEnv(name, '/nowhere')
    const { credentials: _, ...rest } = settings()
    const call = provider === 'sns' ? publish(new SNSClient(rest)) : sendEmail(new SESv2Client(rest))
    expect(toSendResult(await thrown(call))).toEqual({
      kind: 'unavailable',
      reason: 'Not sent: CredentialsProviderError',
    })
    expect(bodies).toEqual([])
  })
})

it.each(['text', {}, new Error('no'), Object.assign(new Error('no'), { $metadata: {} })])(
  'classifies an error that is not of a client as unknown: %j',
  (error) => {
    expect(toSendResult(error)).toEqual({ kind: 'unknown', reason: LOST_RESPONSE })
  },
)

const snsAccepts: Respond = (response) =>
  response
    .writeHead(200, { 'content-type': 'text/xml' })
    .end(
      '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>sns-1</MessageId></PublishResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></PublishResponse>',
    )

const sesAccepts: Respond = (response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"MessageId":"ses-1"}')

/** Returns the responses in order, and then the last one again. */
const inTurn = (...answers: Respond[]): Respond => {
  let at = 0
  return (response, request) => answers[Math.min(at++, answers.length - 1)]?.(response, request)
}

const email = {
  clinic: '6d0e2a7c-0000-4000-8000-000000000001',
  message: '6d0e2a7c-0000-4000-8000-000000000002',
  fromName: 'Ärzte, "Nord"',
  replyTo: null,
  recipient: 'ada@example.com',
  subject: 'Your appointment\r\nBcc: evil@example.com',
  text: 'See you\nat ten 😀',
  waits: 0,
}
const deadline = new AbortController().signal
const smsOf = () => smsSender(new SNSClient(settings()), { senderId: 'Clinic', maxPrice: '0.50' })
const emailOf = () =>
  emailSender(new SESv2Client(settings()), { from: 'clinic@example.com', configurationSet: 'mail' })

it('an SMS is published unchanged to the number as transactional', async () => {
  respond = snsAccepts
  const result = await smsOf().send({ recipient: '+905321234567', text: 'Grüße & bis um 10 😀' }, deadline)
  expect(result).toEqual({ kind: 'accepted', providerMessageId: 'sns-1' })
  const [form] = bodies.map((body) => Object.fromEntries(new URLSearchParams(body)))
  const attributes = [1, 2, 3].map((at) => [
    form?.[`MessageAttributes.entry.${at}.Name`],
    form?.[`MessageAttributes.entry.${at}.Value.StringValue`],
  ])
  expect(form).toMatchObject({ PhoneNumber: '+905321234567', Message: 'Grüße & bis um 10 😀' })
  expect(Object.fromEntries(attributes)).toEqual({
    'AWS.SNS.SMS.SMSType': 'Transactional',
    'AWS.SNS.SMS.SenderID': 'Clinic',
    'AWS.SNS.SMS.MaxPrice': '0.50',
  })
})

describe('an email', () => {
  it('has the domains of its recipient and of its address for replies in punycode', async () => {
    respond = sesAccepts
    await emailOf().send({ ...email, recipient: 'Ada@bücher.example', replyTo: 'desk@praxis-müller.example' })
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
      Destination: { ToAddresses: ['Ada@xn--bcher-kva.example'] },
      ReplyToAddresses: ['desk@xn--praxis-mller-klb.example'],
    })
  })

  it('is sent with its tags, from one mailbox, with a subject of one line', async () => {
    respond = sesAccepts
    expect(await emailOf().send(email)).toEqual({ kind: 'accepted', providerMessageId: 'ses-1' })
    expect(bodies.map((body) => JSON.parse(body))).toEqual([
      {
        FromEmailAddress: '=?UTF-8?B?w4RyenRlLCAiTm9yZCI=?= <clinic@example.com>',
        Destination: { ToAddresses: ['ada@example.com'] },
        Content: {
          Simple: {
            Subject: { Data: 'Your appointment Bcc: evil@example.com', Charset: 'UTF-8' },
            Body: { Text: { Data: 'See you\nat ten 😀', Charset: 'UTF-8' } },
          },
        },
        ConfigurationSetName: 'mail',
        EmailTags: [
          { Name: 'clinic', Value: email.clinic },
          { Name: 'message', Value: email.message },
        ],
      },
    ])
  })
})

describe('a response without a message id', () => {
  // A 200 without a message id may come from a proxy.
  it.each<[string, Respond]>([
    ['is empty', (response) => response.writeHead(200).end()],
    ['is a page', html(200)],
  ])('that %s is unknown', async (_what, answer) => {
    respond = answer
    expect(await smsOf().send({ recipient: '+905321234567', text: 'x' }, deadline)).toEqual({
      kind: 'unknown',
      reason: LOST_RESPONSE,
    })
    expect(await emailOf().send(email)).toEqual({ kind: 'unknown', reason: LOST_RESPONSE })
  })
})

describe('the clients of the functions', () => {
  beforeEach(() => {
    stubFunctionEnvironment('clinic-table', {
      AWS_ENDPOINT_URL_SNS: endpoint,
      AWS_ENDPOINT_URL_SESV2: endpoint,
    })
  })

  it('do not retry calls', async () => {
    respond = reset
    expect(await openSms().send({ recipient: '+905321234567', text: 'x' }, deadline)).toMatchObject({
      kind: 'unknown',
    })
    expect(await openEmail().send(email)).toMatchObject({ kind: 'unknown' })
    expect(bodies.length).toBe(2)
    respond = sesError(429, 'TooManyRequestsException')
    expect(await openEmail().send(email)).toMatchObject({ kind: 'unavailable' })
    expect(bodies.length).toBe(3)
  })

  it('send with the settings of the environment', async () => {
    respond = inTurn(snsAccepts, sesAccepts)
    await openSms().send({ recipient: '+905321234567', text: 'x' }, deadline)
    await openEmail().send({ ...email, fromName: '' })
    expect(new URLSearchParams(bodies[0]).get('MessageAttributes.entry.2.Value.StringValue')).toBe('Clinic')
    expect(JSON.parse(bodies[1] ?? '')).toMatchObject({
      FromEmailAddress: 'clinic@example.com',
      ConfigurationSetName: 'mail',
    })
  })
})
