import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json, text } from 'node:stream/consumers'
import { emailScenario, type Rejection } from '../../../shared/delivery/test-recipients.ts'
import { emailEventFactory, problemOf, recipientsOf, type SentEmail } from './email-events.ts'
import { delayedFeedback, type Feedback, type FeedbackDelays } from './feedback.ts'
import { createSmsOutbox, type SmsOutbox } from './sms-outbox.ts'
import { createReceipt } from './sms-receipts.ts'

type Options = {
  readonly region: string
  readonly log: (line: string) => void
  readonly feedbackDelays?: Partial<FeedbackDelays> | undefined
}

/** What is wrong with the account of the providers. */
export type AccountFaults = {
  /** SES rejects every email, as while the sender is not verified. */
  readonly isSenderUnverified: boolean
  /** SMS beyond this number get an id of SNS, but are not sent, as beyond the limit of spending. */
  readonly smsQuota: number
}

const NO_FAULTS: AccountFaults = { isSenderUnverified: false, smsQuota: Number.POSITIVE_INFINITY }

export type Providers = Awaited<ReturnType<typeof startProviders>>

type Reply = { readonly status: number; readonly headers: Record<string, string>; readonly body: string }

/** An accepted email, as /_local/emails shows it. */
export type Email = {
  readonly message_id: string
  readonly from: string
  readonly to: readonly string[]
  readonly reply_to: readonly string[]
  readonly subject: string
  readonly text: string | null
  /** ISO 8601. */
  readonly at: string
}

/** Simulates SNS and SES on a local port. Accepted messages go to lists; nothing is sent. */
export async function startProviders({ region, log, feedbackDelays: delays }: Options) {
  let faults = NO_FAULTS
  const emails: Email[] = []
  const outbox = createSmsOutbox(() => faults.smsQuota)
  const feedback = delayedFeedback(log, delays)
  const services: Record<string, (request: IncomingMessage) => Promise<Reply | null>> = {
    'POST /': snsHandler(outbox, feedback),
    'POST /v2/email/outbound-emails': sesHandler(emails, feedback, region, () => faults),
  }
  const server = createServer((request, response) => {
    const serve = services[`${request.method} ${request.url}`] ?? unknownOperation
    serve(request).then(
      (reply) => sendReply(response, reply),
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    /** The endpoint of both SNS and SES. */
    endpoint: `http://127.0.0.1:${port}`,
    sms: outbox.list,
    /** Newest last. */
    emails: (): readonly Email[] => emails,
    /** Replaces the faults of the account; it has none at the start. */
    setFaults: (next: Partial<AccountFaults>) => {
      faults = { ...NO_FAULTS, ...next }
    },
    setListener: feedback.setListener,
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await Promise.all([closed, feedback.stop()])
    },
  }
}

/** Null for a lost response. */
function sendReply(response: ServerResponse, reply: Reply | null): void {
  if (reply) response.writeHead(reply.status, reply.headers).end(reply.body)
  else response.destroy()
}

function snsHandler(outbox: SmsOutbox, feedback: Feedback) {
  return async (request: IncomingMessage): Promise<Reply | null> => {
    const published = outbox.publish(new URLSearchParams(await text(request)))
    if ('rejection' in published) return snsError(published.rejection)
    const { sms, scenario } = published
    feedback.sms(() => createReceipt(sms, scenario))
    if (scenario.replyLost) return null
    const result = `<PublishResult><MessageId>${sms.message_id}</MessageId></PublishResult>`
    return snsReply(200, 'PublishResponse', (id) => `${result}<ResponseMetadata>${id}</ResponseMetadata>`)
  }
}

function snsReply(status: number, root: string, inner: (requestId: string) => string): Reply {
  const requestId = randomUUID()
  return {
    status,
    headers: { 'content-type': 'text/xml', 'x-amzn-requestid': requestId },
    body: `<${root} xmlns="http://sns.amazonaws.com/doc/2010-03-31/">${inner(`<RequestId>${requestId}</RequestId>`)}</${root}>`,
  }
}

const snsError = ({ status, code, message }: Rejection): Reply =>
  snsReply(
    status,
    'ErrorResponse',
    (id) =>
      `<Error><Type>Sender</Type><Code>${code}</Code><Message>${escapeXml(message)}</Message></Error>${id}`,
  )

const escapeXml = (plain: string): string =>
  plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const unverified = (sender: string, region: string): Rejection => ({
  status: 400,
  code: 'MessageRejected',
  message: `Email address is not verified. The following identities failed the check in region ${region.toUpperCase()}: ${sender}`,
})

function sesHandler(accepted: Email[], feedback: Feedback, region: string, faults: () => AccountFaults) {
  const rejected = new Map<string, number>()
  /** Counts by recipients and tags, so that only attempts to send the same email are counted. */
  const shouldReject = (sent: SentEmail, maxRejections = Number.POSITIVE_INFINITY): boolean => {
    const mailKey = JSON.stringify([recipientsOf(sent), sent.EmailTags])
    const previousRejections = rejected.get(mailKey) ?? 0
    rejected.set(mailKey, previousRejections + 1)
    return previousRejections < maxRejections
  }
  return async (request: IncomingMessage): Promise<Reply | null> => {
    const sent = (await json(request)) as SentEmail
    if (faults().isSenderUnverified) return sesError(unverified(sent.FromEmailAddress ?? '', region))
    const problem = problemOf(sent)
    if (problem !== null) return sesError({ status: 400, code: 'BadRequestException', message: problem })
    const scenario = emailScenario(recipientsOf(sent))
    if (scenario.rejection && shouldReject(sent, scenario.rejectionCount)) return sesError(scenario.rejection)
    const MessageId = `ses-${randomUUID()}`
    accepted.push(acceptedEmail(sent, MessageId))
    const createEvent = emailEventFactory(sent, MessageId, scenario, region)
    feedback.email(scenario.eventTypes.map((type) => () => createEvent(type)))
    return scenario.replyLost ? null : sesReply(200, JSON.stringify({ MessageId }))
  }
}

const acceptedEmail = (
  { FromEmailAddress = '', ReplyToAddresses = [], Destination, Content }: SentEmail,
  message_id: string,
): Email => ({
  message_id,
  from: FromEmailAddress,
  to: Destination?.ToAddresses ?? [],
  reply_to: ReplyToAddresses,
  subject: Content?.Simple?.Subject?.Data ?? '',
  text: Content?.Simple?.Body?.Text?.Data ?? null,
  at: new Date().toISOString(),
})

const sesReply = (status: number, body: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', 'x-amzn-requestid': randomUUID(), ...headers },
  body,
})

const sesError = ({ status, code, message }: Rejection): Reply =>
  sesReply(status, JSON.stringify({ message }), { 'x-amzn-errortype': code })

const unknownOperation = async ({ method, url }: IncomingMessage): Promise<Reply> =>
  sesError({
    status: 404,
    code: 'UnknownOperationException',
    message: `The local providers do not have ${method} ${url}.`,
  })
