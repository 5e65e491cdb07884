/** Opens senders and queues of messages with the environment of the function. */
import { setTimeout as sleep } from 'node:timers/promises'
import { SESv2Client } from '@aws-sdk/client-sesv2'
import { SNSClient } from '@aws-sdk/client-sns'
import { emailSender } from '../delivery/email.ts'
import { emailQueue } from '../delivery/email-queue.ts'
import { smsSender } from '../delivery/sms.ts'
import { readEmailEnvironment, readEmailQueueEnvironment, readSendingEnvironment } from './environment.ts'
import { queueClient } from './queue-client.ts'

/** One attempt, in less time than a function has: a retry could send a message twice. */
const NO_RETRY = {
  maxAttempts: 1,
  requestHandler: {
    connectionTimeout: 1000,
    requestTimeout: 8000,
    socketTimeout: 8000,
    throwOnRequestTimeout: true,
  },
}

/** The daily limits and SMS countries of clinics that have no limits of their own. */
export function sendingLimits() {
  const { SMS_PER_DAY, EMAILS_PER_DAY, SMS_COUNTRIES } = readSendingEnvironment()
  return { smsPerDay: SMS_PER_DAY, emailsPerDay: EMAILS_PER_DAY, smsCountries: SMS_COUNTRIES }
}

export function openSms() {
  const { SMS_SENDER_ID, SMS_MAX_PRICE } = readSendingEnvironment()
  const settings = { senderId: SMS_SENDER_ID, maxPrice: SMS_MAX_PRICE }
  return smsSender(new SNSClient(NO_RETRY), settings, { sleep, random: Math.random })
}

export const openEmailQueue = () => emailQueue(queueClient(), readEmailQueueEnvironment().EMAIL_QUEUE_URL)

export function openEmail() {
  const { EMAIL_FROM, EMAIL_CONFIGURATION_SET } = readEmailEnvironment()
  return emailSender(new SESv2Client(NO_RETRY), {
    from: EMAIL_FROM,
    configurationSet: EMAIL_CONFIGURATION_SET,
  })
}
