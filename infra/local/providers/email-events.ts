import { randomUUID } from 'node:crypto'
import type { EmailEventType, EmailScenario } from '../../../shared/delivery/test-recipients.ts'
import { type BusEvent, newEvent } from '../events/bus-event.ts'
import { ACCOUNT_ID } from '../template/physical-names.ts'
import type { ResolvedTemplate } from '../template/template.ts'

/** The fields of a SendEmail call that its checks and events depend on. */
export type SentEmail = {
  readonly FromEmailAddress?: string
  readonly ReplyToAddresses?: readonly string[]
  readonly Destination?: {
    readonly ToAddresses?: readonly string[]
    readonly CcAddresses?: readonly string[]
    readonly BccAddresses?: readonly string[]
  }
  readonly Content?: {
    readonly Simple?: {
      readonly Subject?: { readonly Data?: string }
      readonly Body?: { readonly Text?: { readonly Data?: string } }
    }
  }
  readonly EmailTags?: readonly { readonly Name: string; readonly Value: string }[]
  readonly ConfigurationSetName?: string
}

export type EmailEvent = {
  readonly eventType: EmailEventType
  readonly configurationSet: string
  readonly event: BusEvent
}

const DETAIL_TYPES: Record<EmailEventType, string> = {
  Send: 'Email Sent',
  Delivery: 'Email Delivered',
  Bounce: 'Email Bounced',
  Complaint: 'Email Complaint Received',
}

export const recipientsOf = ({ Destination = {} }: SentEmail): string[] => [
  ...(Destination.ToAddresses ?? []),
  ...(Destination.CcAddresses ?? []),
  ...(Destination.BccAddresses ?? []),
]

/** The address of a mailbox, without its name. */
const addressOf = (mailbox: string): string => /<([^>]*)>/.exec(mailbox)?.[1] ?? mailbox

/** Why SES rejects an email; null if it accepts it. Addresses must be ASCII, with domains in punycode. */
export function problemOf(sent: SentEmail): string | null {
  const { FromEmailAddress: from, ReplyToAddresses: replyTo = [], Content } = sent
  if (!from || !Content?.Simple) return 'The local SES needs a FromEmailAddress and Content.Simple.'
  for (const mailbox of [from, ...replyTo, ...recipientsOf(sent)]) {
    const [, local = '', domain = ''] = /^(.*)@(.*)$/.exec(addressOf(mailbox)) ?? []
    if (!/^[\x21-\x7e]{1,64}$/.test(local)) return 'Local address contains control or whitespace'
    if (!/^(?=.{1,253}$)([a-z0-9-]{1,63}\.)+[a-z0-9-]{1,63}$/i.test(domain))
      return 'Domain contains illegal character'
  }
  return null
}

/** Returns a function that creates the events of an email as SES puts them on the default event bus. */
export function emailEventFactory(
  sent: SentEmail,
  messageId: string,
  scenario: EmailScenario,
  region: string,
) {
  const configurationSet = sent.ConfigurationSetName ?? ''
  const mail = mailOf(sent, messageId, region)
  return (eventType: EmailEventType): EmailEvent => ({
    eventType,
    configurationSet,
    event: newEvent(region, {
      source: 'aws.ses',
      'detail-type': DETAIL_TYPES[eventType],
      resources: [`arn:aws:ses:${region}:${ACCOUNT_ID}:configuration-set/${configurationSet}`],
      detail: {
        eventType,
        mail,
        [eventType.toLowerCase()]: eventDetail(eventType, mail, scenario),
      },
    }),
  })
}

type Mail = ReturnType<typeof mailOf>

function mailOf(sent: SentEmail, messageId: string, region: string) {
  const source = sent.FromEmailAddress ?? ''
  const to = [...(sent.Destination?.ToAddresses ?? [])]
  const subject = sent.Content?.Simple?.Subject?.Data ?? ''
  const address = addressOf(source)
  const tags: Record<string, string[]> = {
    'ses:configuration-set': [sent.ConfigurationSetName ?? ''],
    'ses:from-domain': [address.split('@').at(-1) ?? ''],
    'ses:source-ip': ['127.0.0.1'],
  }
  for (const { Name, Value } of sent.EmailTags ?? []) tags[Name] = [Value]
  return {
    timestamp: new Date().toISOString(),
    source,
    sourceArn: `arn:aws:ses:${region}:${ACCOUNT_ID}:identity/${address}`,
    sendingAccountId: ACCOUNT_ID,
    messageId,
    destination: recipientsOf(sent),
    headersTruncated: false,
    headers: [
      { name: 'From', value: source },
      { name: 'To', value: to.join(', ') },
      { name: 'Subject', value: subject },
    ],
    commonHeaders: { from: [source], to, messageId, subject },
    tags,
  }
}

/** The part of an event that depends on its type. */
function eventDetail(
  eventType: EmailEventType,
  { destination, timestamp }: Mail,
  scenario: EmailScenario,
): object {
  const now = new Date().toISOString()
  const feedbackId = randomUUID()
  const bouncedRecipients = destination.map((emailAddress) => ({
    emailAddress,
    action: 'failed',
    status: '5.1.1',
    diagnosticCode: DIAGNOSTIC_CODES[scenario.bounceSubType ?? 'General'],
  }))
  const details: Record<EmailEventType, object> = {
    Send: {},
    Delivery: {
      timestamp: now,
      processingTimeMillis: Date.parse(now) - Date.parse(timestamp),
      recipients: destination,
      smtpResponse: '250 2.6.0 Message received',
      reportingMTA: 'mta.test.example',
    },
    Bounce: {
      feedbackId,
      bounceType: 'Permanent',
      bounceSubType: scenario.bounceSubType ?? 'General',
      bouncedRecipients,
      timestamp: now,
      reportingMTA: 'dns; mta.test.example',
    },
    Complaint: {
      feedbackId,
      complaintSubType: null,
      complainedRecipients: destination.map((emailAddress) => ({ emailAddress })),
      timestamp: now,
      userAgent: 'Amazon SES Mailbox Simulator',
      complaintFeedbackType: 'abuse',
      arrivalDate: now,
    },
  }
  return details[eventType]
}

const DIAGNOSTIC_CODES = {
  General: 'smtp; 550 5.1.1 user unknown',
  OnAccountSuppressionList:
    'Amazon SES did not send the message to this address because it is on the suppression list of your account.',
}

type Destination = {
  readonly ConfigurationSetName: string
  readonly EventDestination: {
    readonly Enabled?: boolean
    readonly MatchingEventTypes: readonly string[]
    readonly EventBridgeDestination?: { readonly EventBusArn: string }
  }
}

/**
 * Whether the template's configuration sets publish an event to the bus. Other destinations (SNS, CloudWatch) are
 * ignored.
 * @throws Error that names a destination on a bus other than the default one, the only one that SES supports
 */
export function publishedEventFilter(template: ResolvedTemplate): (event: EmailEvent) => boolean {
  const published = new Set<string>()
  for (const { id, properties } of template.resourcesOf<Destination>(
    'AWS::SES::ConfigurationSetEventDestination',
  )) {
    const { ConfigurationSetName, EventDestination } = properties
    const { Enabled = true, MatchingEventTypes, EventBridgeDestination } = EventDestination
    if (!Enabled || !EventBridgeDestination) continue
    if (!EventBridgeDestination.EventBusArn.endsWith(':event-bus/default'))
      throw new Error(
        `${id} publishes to ${EventBridgeDestination.EventBusArn}; SES supports the default bus only.`,
      )
    for (const type of MatchingEventTypes) published.add(destinationKey(ConfigurationSetName, type))
  }
  return ({ configurationSet, eventType }) => published.has(destinationKey(configurationSet, eventType))
}

/** CloudFormation accepts event types in upper and lower case. */
const destinationKey = (configurationSet: string, type: string): string =>
  `${configurationSet} ${type.toUpperCase()}`
