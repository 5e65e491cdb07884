/** SNS, SES, SQS and webhook endpoints: they keep what reached them, and lose some responses. */
import { randomUUID } from 'node:crypto'
import { SESv2Client } from '@aws-sdk/client-sesv2'
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { RandomSource } from '../support/random.ts'
import { outgoing } from './task.ts'

type QueueMessage = { readonly id: string; readonly queue: string; readonly body: string }

export type Providers = {
  /** Texts of the SMS that SNS has accepted. */
  readonly sms: string[]
  /** Texts of the emails that SES has accepted. */
  readonly emails: string[]
  /** The provider's id of each text. */
  readonly messageIds: Map<string, string>
  /** Ids of events that arrived, by the URL of the webhook. */
  readonly webhooks: { readonly url: string; readonly event: string }[]
  /** Takes the messages that are queued; some of them come twice. */
  readonly takeQueued: () => QueueMessage[]
  readonly putBack: (messages: readonly QueueMessage[]) => void
  readonly isQueueEmpty: () => boolean
  /** Ends all faults of providers. */
  readonly heal: () => void
  readonly counts: Record<string, number>
  readonly call: (service: 'sns' | 'ses' | 'sqs', input: Record<string, unknown>) => object
}

const failure = (name: string, facts: object) => Object.assign(new Error(name), { name, ...facts })
const LOST = () => failure('Error', { code: 'ECONNRESET' })
const THROTTLED = () => failure('ThrottledException', { $metadata: { httpStatusCode: 429 } })
const REJECTED = () => failure('InvalidParameterException', { $metadata: { httpStatusCode: 400 } })

/** @param rate the probability of each kind of fault */
export function createProviders(random: RandomSource, rate: number): Providers {
  let faultRate = rate
  let queue: QueueMessage[] = []
  let sequence = 0
  const counts: Record<string, number> = {}
  const sms: string[] = []
  const emails: string[] = []
  const messageIds = new Map<string, string>()

  function withFaults(service: string, accept: () => object): object {
    const chance = random()
    const fault =
      chance < faultRate
        ? 'lost'
        : chance < 2 * faultRate
          ? 'throttled'
          : chance < 3 * faultRate
            ? 'rejected'
            : null
    if (fault) counts[`${service} ${fault}`] = (counts[`${service} ${fault}`] ?? 0) + 1
    if (fault === 'throttled') throw THROTTLED()
    if (fault === 'rejected') throw REJECTED()
    const result = accept()
    if (fault === 'lost') throw LOST()
    return result
  }

  const enqueue = (queueUrl: string, body: string) => {
    const message = { id: `queued-${++sequence}`, queue: queueUrl.split('/').at(-1) ?? '', body }
    queue.push(message)
    if (random() < faultRate) queue.push(message)
  }

  const accept = (service: 'sns' | 'ses' | 'sqs', input: any): object => {
    // Receipts contain no other id, and all histories of a table look them up in one place.
    const MessageId = randomUUID()
    if (service === 'sqs')
      for (const { MessageBody } of input.Entries ?? [input]) enqueue(input.QueueUrl, MessageBody)
    else {
      const text = service === 'sns' ? input.Message : input.Content.Simple.Body.Text.Data
      const accepted = service === 'sns' ? sms : emails
      accepted.push(text)
      messageIds.set(text, MessageId)
    }
    return { MessageId }
  }

  return {
    sms,
    emails,
    messageIds,
    webhooks: [],
    counts,
    takeQueued: () => {
      const taken = queue
      queue = []
      return taken
    },
    putBack: (messages) => queue.push(...messages),
    isQueueEmpty: () => queue.length === 0,
    heal: () => {
      faultRate = 0
    },
    call: (service, input) => withFaults(service, () => accept(service, input)),
  }
}

/** Sends the commands of the SDK's clients to the providers of the history that makes them. Returns what ends that. */
export function replaceProviderClients(): () => void {
  const clients = [
    ['sns', SNSClient.prototype],
    ['ses', SESv2Client.prototype],
    ['sqs', SQSClient.prototype],
  ] as const
  const originals = clients.map(([, prototype]) => prototype.send)
  for (const [service, prototype] of clients)
    prototype.send = (({ input }: { input: Record<string, unknown> }) =>
      outgoing(async ({ providers }) => providers.call(service, input))) as never
  return () => {
    for (const [index, [, prototype]] of clients.entries()) prototype.send = originals[index] as never
  }
}

/** Replaces the transport of webhooks: every webhook endpoint responds with 200. */
export const fakeTransport = () => ({
  post: (url: string, _headers: object, body: string) =>
    outgoing(async ({ providers }) => {
      providers.webhooks.push({ url, event: JSON.parse(body).id })
      return { kind: 'responded', status: 200, retryAfter: null, latencyMs: 1 }
    }),
})
