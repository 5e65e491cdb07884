import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda'
import { ConfigurationSet, ConfigurationSetTlsPolicy, SuppressionReasons } from 'aws-cdk-lib/aws-ses'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import type { FunctionCode } from './bundles.ts'
import type { Data } from './data.ts'
import { forwardEmailFeedback } from './email-feedback.ts'
import { emailGrant, pushGrant, smsGrant } from './grants.ts'
import { queueWithDeadLetters } from './queues.ts'
import type { Services } from './service-access.ts'
import type { MessagingSettings, StageSettings } from './stages.ts'
import { consumerTimeout, WorkerFunctions } from './worker-functions.ts'

type Props = { readonly stage: StageSettings; readonly code: FunctionCode; readonly data: Data }

/**
 * Sends messages: the queue of emails and its consumer, the feedback of SES, and a sweep for what a crash left
 * behind. SMS are sent by the endpoint itself.
 */
export class Messaging extends Construct {
  readonly emails: Queue
  readonly deadEmails: Queue
  readonly feedback: Queue
  readonly deadFeedback: Queue
  /** Invoked by the opt-in stack of SMS receipts. */
  readonly smsReceipts: Lambda
  readonly services: Services

  constructor(scope: Construct, id: string, { stage, code, data }: Props) {
    super(scope, id)
    const emails = queueWithDeadLetters(this, 'Emails', consumerTimeout('emails'))
    this.emails = emails.queue
    this.deadEmails = emails.deadLetters
    const configurationSet = new ConfigurationSet(this, 'Mail', {
      tlsPolicy: ConfigurationSetTlsPolicy.REQUIRE,
      reputationMetrics: true,
      suppressionReasons: SuppressionReasons.BOUNCES_AND_COMPLAINTS,
    })
    const { configurationSetName } = configurationSet
    const { emailFrom, emailsPerSecond } = stage.messaging
    this.services = {
      sms: { environment: sendingEnvironment(stage.messaging), grant: () => smsGrant(this) },
      'email-queue': {
        environment: { EMAIL_QUEUE_URL: emails.queue.queueUrl },
        grant: () => pushGrant(emails.queue),
      },
      email: {
        environment: {
          EMAIL_FROM: emailFrom,
          EMAIL_CONFIGURATION_SET: configurationSetName,
          EMAILS_PER_SECOND: String(emailsPerSecond),
        },
        grant: () => emailGrant(this, emailFrom, configurationSetName),
      },
    }

    const workers = new WorkerFunctions(this, 'messaging', { stage, code, data, services: this.services })
    workers.consume('emails', emails.queue)
    const feedback = queueWithDeadLetters(this, 'Feedback', consumerTimeout('feedback'))
    this.feedback = feedback.queue
    this.deadFeedback = feedback.deadLetters
    forwardEmailFeedback(this, configurationSet, feedback.queue)
    workers.consume('feedback', feedback.queue)
    this.smsReceipts = workers.subscriber('sms-receipts')
    workers.everyMinute()
  }
}

const sendingEnvironment = (settings: MessagingSettings): Record<string, string> => ({
  SMS_SENDER_ID: settings.smsSenderId,
  SMS_MAX_PRICE: settings.smsMaxPrice,
  SMS_PER_DAY: String(settings.smsPerDay),
  EMAILS_PER_DAY: String(settings.emailsPerDay),
  MESSAGES_PER_RECIPIENT: String(settings.messagesPerRecipient),
  SMS_COUNTRIES: settings.smsCountries.join(','),
})
