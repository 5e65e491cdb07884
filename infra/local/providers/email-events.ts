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
  const mail = mailOf(sent, messageId)
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

function mailOf(sent: SentEmail, messageId: string) {
  const source = sent.FromEmailAddress ?? ''
  const subject = sent.Content?.Simple?.Subject?.Data ?? ''
  return {
    timestamp: new Date().toISOString(),
    source,
    messageId,
    destination: recipientsOf(sent),
    commonHeaders: { from: [source], to: sent.Destination?.ToAddresses ?? [], messageId, subject },
    tags: {
      'ses:configuration-set': [sent.ConfigurationSetName ?? ''],
      ...Object.fromEntries((sent.EmailTags ?? []).map(({ Name, Value }) => [Name, [Value]])),
    },
  }
}

/** The part of an event that depends on its type, as far as rules read it, and the addresses that no rule may pass on. */
function eventDetail(
  eventType: EmailEventType,
  { destination }: Mail,
  { bounceSubType = 'General' }: EmailScenario,
): object {
  const recipients = destination.map((emailAddress) => ({ emailAddress }))
  const details: Record<EmailEventType, object> = {
    Send: {},
    Delivery: { recipients: destination },
    Bounce: { bounceType: 'Permanent', bounceSubType, bouncedRecipients: recipients },
    Complaint: { complainedRecipients: recipients },
  }
  return details[eventType]
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
