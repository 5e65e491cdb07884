import { Duration } from 'aws-cdk-lib'
import { EventBus, EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events'
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets'
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda'
import {
  ConfigurationSet,
  ConfigurationSetTlsPolicy,
  EmailSendingEvent,
  EventDestination,
  SuppressionReasons,
} from 'aws-cdk-lib/aws-ses'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import type { TableCall } from '../shared/api/route.ts'
import type { FunctionCode } from './bundles.ts'
import type { Data } from './data.ts'
import { everyMinute } from './every-minute.ts'
import { emailGrant, keyGrant, pushGrant, tableGrant } from './grants.ts'
import { addConsumer, queueWithDeadLetters } from './queues.ts'
import { ServiceFunction } from './service-function.ts'
import type { StageSettings } from './stages.ts'

/** The files in functions/ that move messages; no request starts them. */
export const MESSAGE_WORKERS = ['send-email', 'email-feedback', 'sms-receipts', 'sweep-messages'] as const

/** What SES tells of a mail, beside what every event has: how a bounce is called. */
const FEEDBACK_DETAIL_PATHS: Record<string, readonly string[]> = {
  Send: [],
  Delivery: [],
  Bounce: ['$.detail.bounce.bounceType', '$.detail.bounce.bounceSubType'],
  Complaint: [],
  Reject: [],
}

type Props = { readonly stage: StageSettings; readonly code: FunctionCode; readonly data: Data }

/**
 * Messages on their way: the queue of emails and its consumer, what SES tells of them, and the sweep after what a crash
 * left behind.
 */
export class Messaging extends Construct {
  readonly emails: Queue
  readonly deadEmails: Queue
  readonly feedback: Queue
  readonly deadFeedback: Queue
  /** Fed by the opt-in stack of SMS receipts. */
  readonly smsReceipts: Lambda
  readonly sendingEnvironment: Record<string, string>
  readonly queueEnvironment: Record<string, string>
  readonly #props: Props

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    this.#props = props
    const { messaging } = props.stage
    const { queue, deadLetters } = queueWithDeadLetters(this, 'Emails')
    this.emails = queue
    this.deadEmails = deadLetters
    this.queueEnvironment = { EMAIL_QUEUE_URL: queue.queueUrl }
    this.sendingEnvironment = {
      SMS_SENDER_ID: messaging.smsSenderId,
      SMS_MAX_PRICE: messaging.smsMaxPrice,
      SMS_PER_DAY: String(messaging.smsPerDay),
      EMAILS_PER_DAY: String(messaging.emailsPerDay),
      SMS_COUNTRIES: messaging.smsCountries.join(','),
    }
    const configurationSet = new ConfigurationSet(this, 'Mail', {
      tlsPolicy: ConfigurationSetTlsPolicy.REQUIRE,
      reputationMetrics: true,
      suppressionReasons: SuppressionReasons.BOUNCES_AND_COMPLAINTS,
    })
    this.#sendEmails(configurationSet, messaging.emailFrom)
    const feedback = queueWithDeadLetters(this, 'Feedback')
    this.feedback = feedback.queue
    this.deadFeedback = feedback.deadLetters
    this.receiveFeedback(configurationSet)
    this.smsReceipts = this.#worker('sms-receipts', ['GetItem', 'PutItem'])
    this.#sweep()
  }

  #sendEmails(configurationSet: ConfigurationSet, from: string): void {
    const { configurationSetName } = configurationSet
    const lambda = this.#worker('send-email', ['GetItem', 'UpdateItem', 'PutItem', 'DeleteItem'], {
      environment: {
        ...this.queueEnvironment,
        EMAIL_FROM: from,
        EMAIL_CONFIGURATION_SET: configurationSetName,
      },
      grants: [pushGrant(this.emails), emailGrant(this, from, configurationSetName)],
    })
    addConsumer(lambda, this.emails)
  }

  /**
   * SES -> event bus -> queue -> log. A rule for each kind of event, which passes on ids and types only: the events
   * themselves quote addresses and subjects.
   */
  receiveFeedback(configurationSet: ConfigurationSet): void {
    configurationSet.addEventDestination('Feedback', {
      destination: EventDestination.eventBus(EventBus.fromEventBusName(this, 'Bus', 'default')),
      events: [
        EmailSendingEvent.SEND,
        EmailSendingEvent.DELIVERY,
        EmailSendingEvent.BOUNCE,
        EmailSendingEvent.COMPLAINT,
        EmailSendingEvent.REJECT,
      ],
    })
    for (const [event, detail] of Object.entries(FEEDBACK_DETAIL_PATHS)) {
      new Rule(this, `${event}Rule`, {
        eventPattern: {
          source: ['aws.ses'],
          detail: {
            eventType: [event],
            mail: { tags: { 'ses:configuration-set': [configurationSet.configurationSetName] } },
          },
        },
        targets: [
          new SqsQueue(this.feedback, {
            message: RuleTargetInput.fromObject(feedbackMessage(event, detail)),
          }),
        ],
      })
    }
    addConsumer(this.#worker('email-feedback', ['GetItem', 'PutItem', 'DeleteItem']), this.feedback)
  }

  #sweep(): void {
    const calls: TableCall[] = ['Query', 'GetItem', 'PutItem', 'DeleteItem', 'BatchWriteItem']
    const lambda = this.#worker('sweep-messages', calls, {
      environment: this.queueEnvironment,
      grants: [pushGrant(this.emails)],
      timeout: Duration.minutes(1),
    })
    everyMinute(this, lambda)
  }

  #worker(
    id: (typeof MESSAGE_WORKERS)[number],
    calls: readonly TableCall[],
    options: { environment?: Record<string, string>; grants?: PolicyStatement[]; timeout?: Duration } = {},
  ): Lambda {
    const { stage, code, data } = this.#props
    const { lambda } = new ServiceFunction(this, id, {
      stage,
      code,
      ...options,
      environment: { TABLE_NAME: data.table.tableName, ...options.environment },
      grants: [tableGrant(data, calls, { delivers: true }), keyGrant(this, data), ...(options.grants ?? [])],
    })
    return lambda
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
