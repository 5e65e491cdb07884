/**
 * The environment of functions: infrastructure sets exactly these variables. credentials.ts reads those of Lambda. Without zod, whose first schema
 * takes a tenth of the time in which an endpoint starts.
 */

/** @throws Error that names the variable if it is not set, or not as the pattern requires */
function variable(name: string, pattern = /./): string {
  const value = process.env[name] ?? ''
  if (!pattern.test(value)) throw new Error(`The environment variable ${name} must match ${pattern}.`)
  return value
}

const wholeNumber = (name: string): number => Number(variable(name, /^[1-9]\d*$/))

export const readWorkerEnvironment = () => ({
  TABLE_NAME: variable('TABLE_NAME'),
  /** A dimension of every metric. */
  STAGE: variable('STAGE'),
})

/** The environment of every endpoint. */
export const readEnvironment = () => ({
  ...readWorkerEnvironment(),
  /** Whether responses are checked against their schema: on in development, off in production to save time. */
  CHECK_RESPONSES: variable('CHECK_RESPONSES', /^(on|off)$/),
  /** The default rate of a credential. */
  REQUESTS_PER_MINUTE: wholeNumber('REQUESTS_PER_MINUTE'),
})

/** The environment of the endpoint that accepts messages. */
export const readSendingEnvironment = () => ({
  SMS_SENDER_ID: variable('SMS_SENDER_ID', /^[A-Za-z0-9]{1,11}$/),
  /** US dollars per SMS. */
  SMS_MAX_PRICE: variable('SMS_MAX_PRICE', /^\d+\.\d\d$/),
  /** The default limits of a clinic. */
  SMS_PER_DAY: wholeNumber('SMS_PER_DAY'),
  EMAILS_PER_DAY: wholeNumber('EMAILS_PER_DAY'),
  MESSAGES_PER_RECIPIENT: wholeNumber('MESSAGES_PER_RECIPIENT'),
  /** ISO 3166 codes, separated by commas. */
  SMS_COUNTRIES: variable('SMS_COUNTRIES').split(','),
})

/** Whether Lambda starts the process for an invocation that waits for it, rather than ahead of time. */
export const isStartedOnDemand = (): boolean => process.env.AWS_LAMBDA_INITIALIZATION_TYPE === 'on-demand'

/** The environment of the worker that sends emails. */
export const readEmailEnvironment = () => ({
  EMAIL_FROM: variable('EMAIL_FROM'),
  EMAIL_CONFIGURATION_SET: variable('EMAIL_CONFIGURATION_SET'),
  /** The rate of SES, which all invocations share. */
  EMAILS_PER_SECOND: wholeNumber('EMAILS_PER_SECOND'),
})

export const readEmailQueueEnvironment = () => ({ EMAIL_QUEUE_URL: variable('EMAIL_QUEUE_URL') })

/** The environment of functions that queue webhook deliveries. */
export const readDeliveryEnvironment = () => ({
  DELIVERY_QUEUE_URL: variable('DELIVERY_QUEUE_URL'),
  SLOW_DELIVERY_QUEUE_URL: variable('SLOW_DELIVERY_QUEUE_URL'),
})

/** The environment of the worker that hands the rest of its work on. */
export const readMaintenanceEnvironment = () => ({ MAINTENANCE_QUEUE_URL: variable('MAINTENANCE_QUEUE_URL') })

export const readWebhookEnvironment = () => ({
  /** `HOST:PORT` that webhooks may go to although it is not public. Only the local runner sets it, on request. */
  ALLOWED_WEBHOOK_HOST: process.env.ALLOWED_WEBHOOK_HOST,
  /** By how many milliseconds the clock of functions is ahead of the receivers'. Only the local runner sets it. */
  CLOCK_OFFSET_MS: Number(process.env.CLOCK_OFFSET_MS ?? 0),
})
