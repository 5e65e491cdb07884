import { setTimeout as sleep } from 'node:timers/promises'
import { SESv2Client, SendEmailCommand, type SendEmailCommandInput } from '@aws-sdk/client-sesv2'
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EmailEvent } from '../../../../infra/local/providers/email-events.ts'
import type { FeedbackDelays } from '../../../../infra/local/providers/feedback.ts'
import { startProviders } from '../../../../infra/local/providers/server.ts'
import type { SmsReceipt } from '../../../../infra/local/providers/sms-receipts.ts'

const SOON: FeedbackDelays = { email: 1, nextEmail: 1, sms: 1 }

/** The providers, the real clients, and what is heard of messages afterwards. */
async function providers(feedback: Partial<FeedbackDelays> = SOON) {
  const lines: string[] = []
  const playing = await startProviders({
    region: 'eu-central-1',
    log: (line) => lines.push(line),
    feedbackDelays: feedback,
  })
  onTestFinished(() => playing.stop())
  const events: EmailEvent[] = []
  const receipts: SmsReceipt[] = []
  playing.setListener({
    email: async (event) => events.push(event),
    sms: async (receipt) => receipts.push(receipt),
  })
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const settings = { endpoint: playing.endpoint, region: 'eu-central-1', credentials, maxAttempts: 1 }
  const [sns, ses] = [new SNSClient(settings), new SESv2Client(settings)]
  onTestFinished(() => [sns, ses].forEach((client) => void client.destroy()))
  const sms = (PhoneNumber: string, Message = 'See you at 9:30') =>
    sns.send(new PublishCommand({ PhoneNumber, Message }))
  const email = (recipient: string, more: Partial<SendEmailCommandInput> = {}) =>
    ses.send(
      new SendEmailCommand({
        FromEmailAddress: 'Clinic <clinic@example.com>',
        Destination: { ToAddresses: [recipient] },
        Content: {
          Simple: { Subject: { Data: 'Your appointment' }, Body: { Text: { Data: 'See you at 9:30' } } },
        },
        ConfigurationSetName: 'clinic-mail',
        EmailTags: [{ Name: 'message', Value: 'message-1' }],
        ...more,
      }),
    )
  const told = () => events.map(({ event }) => event.detail.eventType)
  return { playing, sns, sms, email, events, receipts, told, lines }
}

/** The error that a client derives from a rejection; only `broken` when there was no response. */
const failure = (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    ({ name, $metadata }) => ($metadata?.httpStatusCode ? [$metadata.httpStatusCode, name] : 'broken'),
  )

describe('SNS', () => {
  it('accepts an SMS with its attributes', async () => {
    const { playing, sns } = await providers()
    const { MessageId } = await sns.send(
      new PublishCommand({
        PhoneNumber: '+12015550199',
        Message: 'Grüße & <b>bis bald</b> 👋',
        MessageAttributes: {
          'AWS.SNS.SMS.SenderID': { DataType: 'String', StringValue: 'Clinic' },
          'AWS.SNS.SMS.MaxPrice': { DataType: 'Number', StringValue: '0.50' },
          'AWS.SNS.SMS.SMSType': { DataType: 'String', StringValue: 'Transactional' },
        },
      }),
    )
    expect(playing.sms()).toEqual([
      {
        message_id: MessageId,
        to: '+12015550199',
        message: 'Grüße & <b>bis bald</b> 👋',
        sender_id: 'Clinic',
        max_price: '0.50',
        type: 'Transactional',
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    ])
  })

  it('lists the newest SMS last, with null for attributes that were not sent', async () => {
    const { playing, sms } = await providers()
    await sms('+12015550198', 'first')
    await sms('+12015550199', 'second')
    expect(playing.sms()).toMatchObject([
      { message: 'first' },
      { message: 'second', sender_id: null, max_price: null, type: null },
    ])
  })

  it.each([
    ['+12015550101', 400, 'InvalidParameterException'],
    ['+12015550102', 429, 'ThrottledException'],
  ])('rejects %s with %i %s every time', async (number, status, name) => {
    const { playing, sms } = await providers()
    for (let time = 1; time <= 3; time++) expect(await failure(sms(number))).toEqual([status, name])
    expect(playing.sms()).toEqual([])
  })

  it('accepts an SMS to +12015550103 and drops the response', async () => {
    const { playing, sms, receipts } = await providers()
    expect(await failure(sms('+12015550103'))).toBe('broken')
    expect(playing.sms()).toMatchObject([{ to: '+12015550103' }])
    await expect.poll(() => receipts.map(({ status }) => status)).toEqual(['SUCCESS'])
  })

  it.each([
    ['+12015550104', 'FAILURE', 'Unknown error attempting to reach phone'],
    ['+12015550199', 'SUCCESS', 'Message has been accepted by phone carrier'],
  ])('writes a delivery receipt for %s: %s', async (number, status, providerResponse) => {
    const { playing, sms, receipts } = await providers()
    const { MessageId } = await sms(number)
    await expect.poll(() => receipts.length).toBe(1)
    expect(receipts).toEqual([
      {
        notification: {
          messageId: MessageId,
          timestamp: playing.sms()[0]?.at.replace('T', ' ').replace('Z', ''),
        },
        delivery: expect.objectContaining({
          destination: number,
          phoneCarrier: expect.any(String),
          priceInUSD: expect.any(Number),
          smsType: 'Promotional',
          providerResponse,
          dwellTimeMs: expect.any(Number),
        }),
        status,
      },
    ])
    expect(receipts[0]?.notification.timestamp).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/)
  })

  it.each([
    ['a malformed number', { PhoneNumber: '<555>', Message: 'x' }, /<555> is not valid to publish to/],
    ['an empty text', { PhoneNumber: '+12015550199', Message: '' }, /Empty message/],
    ['over 1,600 characters', { PhoneNumber: '+12015550199', Message: '👋'.repeat(1601) }, /too long/],
    ['a topic', { TopicArn: 'arn:aws:sns:eu-central-1:000000000000:t', Message: 'x' }, /PhoneNumber only/],
  ])('rejects %s', async (_what, input, message) => {
    const { playing, sns } = await providers()
    const rejected = sns.send(new PublishCommand(input))
    await expect(rejected).rejects.toThrow(message)
    expect(await failure(rejected)).toEqual([400, 'InvalidParameterException'])
    expect(playing.sms()).toEqual([])
  })

  it('accepts a text of exactly 1,600 characters', async () => {
    const { playing, sms } = await providers()
    await sms('+12015550199', '👋'.repeat(1600))
    expect(playing.sms().length).toBe(1)
  })

  it('rejects calls other than Publish', async () => {
    const { playing } = await providers()
    const call = (path: string, init: RequestInit) => fetch(`${playing.endpoint}${path}`, init)
    const form = await call('/', { method: 'POST', body: new URLSearchParams({ Action: 'CreateTopic' }) })
    expect([form.status, await form.text()]).toEqual([
      400,
      expect.stringContaining('<Code>InvalidAction</Code>'),
    ])
    const other = await call('/v2/email/identities', { method: 'GET' })
    expect([other.status, other.headers.get('x-amzn-errortype')]).toEqual([404, 'UnknownOperationException'])
  })
})

describe('SES', () => {
  it('stores an accepted email in the inbox', async () => {
    const { playing, email } = await providers()
    const { MessageId } = await email('Anna <anna@example.com>', { ReplyToAddresses: ['desk@example.com'] })
    expect(playing.emails()).toEqual([
      {
        message_id: MessageId,
        from: 'Clinic <clinic@example.com>',
        to: ['Anna <anna@example.com>'],
        reply_to: ['desk@example.com'],
        subject: 'Your appointment',
        text: 'See you at 9:30',
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    ])
  })

  it.each([
    ['success@simulator.amazonses.com', ['Send', 'Delivery']],
    ['bounce@simulator.amazonses.com', ['Send', 'Bounce']],
    ['complaint@simulator.amazonses.com', ['Send', 'Delivery', 'Complaint']],
    ['suppressionlist@simulator.amazonses.com', ['Send', 'Bounce']],
    ['anybody@example.com', ['Send', 'Delivery']],
    ['Anna <Bounce+label@simulator.amazonses.com>', ['Send', 'Bounce']],
  ])('publishes for %s the events %j', async (recipient, occurrences) => {
    const { email, told } = await providers()
    await email(recipient)
    await expect.poll(told).toEqual(occurrences)
    await sleep(30)
    expect(told()).toEqual(occurrences)
  })

  it('publishes events in the format of EventBridge', async () => {
    const { email, events, told } = await providers()
    await email('complaint@simulator.amazonses.com')
    await expect.poll(told).toEqual(['Send', 'Delivery', 'Complaint'])
    expect(events.map(({ event }) => event['detail-type'])).toEqual([
      'Email Sent',
      'Email Delivered',
      'Email Complaint Received',
    ])
    expect(events[0]?.event).toMatchObject({
      version: '0',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      source: 'aws.ses',
      account: '000000000000',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      region: 'eu-central-1',
      resources: ['arn:aws:ses:eu-central-1:000000000000:configuration-set/clinic-mail'],
    })
  })

  it.each([
    ['rejected@test.example', 400, 'BadRequestException'],
    ['unavailable@test.example', 503, 'ServiceUnavailable'],
  ])('rejects %s with %i %s every time', async (recipient, status, name) => {
    const { playing, email, told } = await providers()
    for (let time = 1; time <= 3; time++) expect(await failure(email(recipient))).toEqual([status, name])
    expect(playing.emails()).toEqual([])
    await sleep(30)
    expect(told()).toEqual([])
  })

  it.each([
    'ö@example.com',
    'a b@example.com',
    `${'a'.repeat(65)}@example.com`,
    'ada@bücher.example',
    `ada@${'a'.repeat(64)}.example`,
    `ada@${`${'a'.repeat(60)}.`.repeat(4)}example.com`,
    'ada',
    'ada@',
    'Ada <ada@bücher.example>',
  ])('rejects %s as a recipient, as an address for replies and as the sender', async (address) => {
    const { playing, email } = await providers()
    const ILLEGAL = [400, 'BadRequestException']
    expect(await failure(email(address))).toEqual(ILLEGAL)
    expect(await failure(email('ada@example.com', { ReplyToAddresses: [address] }))).toEqual(ILLEGAL)
    expect(await failure(email('ada@example.com', { FromEmailAddress: address }))).toEqual(ILLEGAL)
    expect(playing.emails()).toEqual([])
  })

  it('accepts domains in punycode, and addresses with a name in encoded words', async () => {
    const { playing, email } = await providers()
    const FromEmailAddress = '=?UTF-8?B?UHJheGlzIE3DvGxsZXI=?= <desk@xn--mller-kva.example>'
    await email('ada@xn--bcher-kva.example', { FromEmailAddress, ReplyToAddresses: ['desk@example.com'] })
    expect(playing.emails()).toMatchObject([{ to: ['ada@xn--bcher-kva.example'] }])
  })

  it('throttles each email to throttled@test.example twice', async () => {
    const { playing, email, told } = await providers()
    const send = (Value: string) =>
      failure(email('throttled@test.example', { EmailTags: [{ Name: 'message', Value }] }))
    const THROTTLED = [429, 'TooManyRequestsException']
    expect([await send('a'), await send('b')]).toEqual([THROTTLED, THROTTLED])
    expect([await send('a'), await send('a')]).toEqual([THROTTLED, 'accepted'])
    expect([await send('b'), await send('b')]).toEqual([THROTTLED, 'accepted'])
    expect(playing.emails().length).toBe(2)
    await expect.poll(() => told().toSorted()).toEqual(['Delivery', 'Delivery', 'Send', 'Send'])
  })

  it('accepts an email to lost-reply@test.example and drops the response', async () => {
    const { playing, email, told } = await providers()
    expect(await failure(email('lost-reply@test.example'))).toBe('broken')
    expect(playing.emails()).toMatchObject([{ to: ['lost-reply@test.example'] }])
    await expect.poll(told).toEqual(['Send', 'Delivery'])
  })
})

describe('feedback', () => {
  it('applies the scenario of a cc recipient', async () => {
    const { email } = await providers()
    const Destination = { ToAddresses: ['a@example.com'], CcAddresses: ['rejected+1@test.example'] }
    expect(await failure(email('', { Destination }))).toEqual([400, 'BadRequestException'])
  })

  it('is delayed and in order', async () => {
    const { playing, email, sms } = await providers({ email: 40, nextEmail: 90, sms: 120 })
    const emails: { event: string; at: number }[] = []
    const receipts: number[] = []
    playing.setListener({
      email: async ({ eventType }) => emails.push({ event: eventType, at: performance.now() - startedAt }),
      sms: async () => receipts.push(performance.now() - startedAt),
    })
    const startedAt = performance.now()
    await Promise.all([email('complaint@simulator.amazonses.com'), sms('+12015550199')])
    await expect.poll(() => [emails.length, receipts.length]).toEqual([3, 1])
    expect(emails.map(({ event }) => event)).toEqual(['Send', 'Delivery', 'Complaint'])
    for (const [step, { at }] of emails.entries()) expect(at).toBeGreaterThan(39 + 90 * step)
    expect(receipts[0]).toBeGreaterThan(119)
  })

  it('that fails is logged, and the next one is reported', async () => {
    const { playing, email, lines } = await providers()
    const heard: string[] = []
    playing.setListener({
      email: async ({ eventType: occurrence }) => {
        heard.push(occurrence)
        throw new Error('no bus')
      },
      sms: async () => {},
    })
    await email('a@example.com')
    await expect.poll(() => lines).toEqual(['Feedback was lost: no bus', 'Feedback was lost: no bus'])
    expect(heard).toEqual(['Send', 'Delivery'])
  })

  it('ends when the providers are stopped, and the port is closed', async () => {
    const { playing, email, sms, told, receipts, lines } = await providers({
      email: 50,
      nextEmail: 50,
      sms: 50,
    })
    await Promise.all([email('a@example.com'), sms('+12015550199')])
    // On a busy machine, some of it was reported before both calls returned.
    const reported = [told(), [...receipts]]
    const startedAt = performance.now()
    await playing.stop()
    expect(performance.now() - startedAt).toBeLessThan(500)
    await expect(fetch(playing.endpoint)).rejects.toThrow()
    await sleep(150)
    expect([told(), receipts, lines]).toEqual([...reported, []])
  })
})
