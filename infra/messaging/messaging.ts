import { ConfigurationSet, ConfigurationSetTlsPolicy, SuppressionReasons } from 'aws-cdk-lib/aws-ses'
import { Construct } from 'constructs'
import { emailGrant } from '../functions/grants.ts'
import { emailQueueAccess } from '../functions/service-access.ts'
import { WorkerFunctions, type WorkerProps } from '../functions/worker-functions.ts'
import { forwardEmailFeedback } from './email-feedback.ts'
import { consumedQueue } from './queues.ts'
import { subscribeToSmsReceipts } from './sms-receipts-stack.ts'

/**
 * Sends messages: the queue of emails and its consumer, the feedback of SES, and a sweep for what a crash left
 * behind. SMS are sent by the endpoint itself.
 */
export class Messaging extends Construct {
  constructor(scope: Construct, id: string, props: WorkerProps) {
    super(scope, id)
    const { stage } = props
    const emails = consumedQueue(this, 'Emails', stage, 'emails')
    const configurationSet = new ConfigurationSet(this, 'Mail', {
      tlsPolicy: ConfigurationSetTlsPolicy.REQUIRE,
      reputationMetrics: true,
      suppressionReasons: SuppressionReasons.BOUNCES_AND_COMPLAINTS,
    })
    const { configurationSetName } = configurationSet
    const { emailFrom, emailsPerSecond } = stage.messaging
    const services = {
      ...emailQueueAccess(emails),
      email: {
        environment: {
          EMAIL_FROM: emailFrom,
          EMAIL_CONFIGURATION_SET: configurationSetName,
          EMAILS_PER_SECOND: String(emailsPerSecond),
        },
        grant: () => emailGrant(this, emailFrom, configurationSetName),
      },
    }

    const workers = new WorkerFunctions(this, 'messaging', { ...props, services })
    workers.consume('emails', emails)
    const feedback = consumedQueue(this, 'Feedback', stage, 'feedback')
    forwardEmailFeedback(this, configurationSet, feedback)
    workers.consume('feedback', feedback)
    const receiptReader = workers.subscriber('sms-receipts')
    if (stage.smsReceipts) subscribeToSmsReceipts(this, receiptReader)
    workers.everyMinute()
  }
}
