import { EventBus, EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events'
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets'
import { type ConfigurationSet, EmailSendingEvent, EventDestination } from 'aws-cdk-lib/aws-ses'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'

/** The kinds of SES events, and the fields that are passed on besides ids: the classification of a bounce. */
const DETAIL_PATHS: Record<string, readonly string[]> = {
  Send: [],
  Delivery: [],
  Bounce: ['$.detail.bounce.bounceType', '$.detail.bounce.bounceSubType'],
  Complaint: [],
  Reject: [],
}

/**
 * Forwards SES's feedback to a queue over the account's event bus. Each kind of event has a rule that passes on ids
 * and types only, since the events themselves quote addresses and subjects.
 */
export function forwardEmailFeedback(
  scope: Construct,
  configurationSet: ConfigurationSet,
  queue: Queue,
): void {
  configurationSet.addEventDestination('Feedback', {
    destination: EventDestination.eventBus(EventBus.fromEventBusName(scope, 'Bus', 'default')),
    events: [
      EmailSendingEvent.SEND,
      EmailSendingEvent.DELIVERY,
      EmailSendingEvent.BOUNCE,
      EmailSendingEvent.COMPLAINT,
      EmailSendingEvent.REJECT,
    ],
  })
  for (const [event, detail] of Object.entries(DETAIL_PATHS)) {
    new Rule(scope, `${event}Rule`, {
      eventPattern: {
        source: ['aws.ses'],
        detail: {
          eventType: [event],
          mail: { tags: { 'ses:configuration-set': [configurationSet.configurationSetName] } },
        },
      },
      targets: [new SqsQueue(queue, { message: RuleTargetInput.fromObject(feedbackMessage(event, detail)) })],
    })
  }
}

const feedbackMessage = (event: string, detail: readonly string[]) => ({
  event,
  clinic: EventField.fromPath('$.detail.mail.tags.clinic'),
  message: EventField.fromPath('$.detail.mail.tags.message'),
  provider_message_id: EventField.fromPath('$.detail.mail.messageId'),
  at: EventField.fromPath('$.time'),
  detail: detail.map((path) => EventField.fromPath(path)),
})
