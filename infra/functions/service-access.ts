import type { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import type { WorkerService } from '../../shared/runtime/workers.ts'
import type { MessagingSettings } from '../settings/stages.ts'
import { pushGrant, smsGrant } from './grants.ts'

/** The environment and grants of a function that uses a service. */
export type ServiceAccess = {
  readonly environment: Readonly<Record<string, string>>
  /** A new statement for each role: a policy may change the statements that it is made of. */
  readonly grant: () => PolicyStatement
}

/** Access to the services that a part of the deployment offers. */
export type Services = Readonly<Partial<Record<WorkerService, ServiceAccess>>>

/** @throws Error naming the first service that is not offered */
export function accessTo(
  names: readonly WorkerService[],
  services: Services,
): { environment: Record<string, string>; grants: PolicyStatement[] } {
  const accesses = names.map((name) => {
    const access = services[name]
    if (!access) throw new Error(`No part of the deployment offers the service "${name}" here.`)
    return access
  })
  return {
    environment: Object.assign({}, ...accesses.map(({ environment }) => environment)),
    grants: accesses.map(({ grant }) => grant()),
  }
}

export const emailQueueAccess = (emails: IQueue): Services => ({
  'email-queue': { environment: { EMAIL_QUEUE_URL: emails.queueUrl }, grant: () => pushGrant(emails) },
})

/** Sending to the queues of deliveries. Which one a delivery goes to is decided by the function. */
export function deliveryQueueAccess(quick: IQueue, slow: IQueue): Services {
  const environment = { DELIVERY_QUEUE_URL: quick.queueUrl, SLOW_DELIVERY_QUEUE_URL: slow.queueUrl }
  return {
    'delivery-queue': { environment, grant: () => pushGrant(quick) },
    'slow-delivery-queue': { environment, grant: () => pushGrant(slow) },
  }
}

/** Sending SMS, within the limits of the stage. */
export const smsAccess = (scope: Construct, settings: MessagingSettings): Services => ({
  sms: {
    environment: {
      SMS_SENDER_ID: settings.smsSenderId,
      SMS_MAX_PRICE: settings.smsMaxPrice,
      SMS_PER_DAY: String(settings.smsPerDay),
      EMAILS_PER_DAY: String(settings.emailsPerDay),
      MESSAGES_PER_RECIPIENT: String(settings.messagesPerRecipient),
      SMS_COUNTRIES: settings.smsCountries.join(','),
    },
    grant: () => smsGrant(scope),
  },
})
