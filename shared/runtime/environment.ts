/** The only file that reads the environment of functions. Infrastructure sets exactly these variables. */
import * as z from 'zod'

const FunctionEnvironment = z.object({
  TABLE_NAME: z.string().min(1),
  /** A dimension of every metric. */
  STAGE: z.string().min(1),
})

const Environment = FunctionEnvironment.extend({
  /** Whether responses are checked against their schema: on in development, off in production to save time. */
  CHECK_RESPONSES: z.enum(['on', 'off']),
  /** The default rate of a credential. */
  REQUESTS_PER_MINUTE: z.coerce.number().int().positive(),
})

export type Environment = z.infer<typeof Environment>

/** @throws ZodError that names the missing variables */
export const readEnvironment = (): Environment => Environment.parse(process.env)

const SendingEnvironment = z.object({
  SMS_SENDER_ID: z.string().regex(/^[A-Za-z0-9]{1,11}$/),
  /** US dollars per SMS. */
  SMS_MAX_PRICE: z.string().regex(/^\d+\.\d\d$/),
  /** The default limits of a clinic. */
  SMS_PER_DAY: z.coerce.number().int().positive(),
  EMAILS_PER_DAY: z.coerce.number().int().positive(),
  MESSAGES_PER_RECIPIENT: z.coerce.number().int().positive(),
  /** ISO 3166 codes, separated by commas. */
  SMS_COUNTRIES: z.string().transform((codes) => codes.split(',')),
})

/** The environment of the endpoint that accepts messages. */
export const readSendingEnvironment = () => SendingEnvironment.parse(process.env)

/** The environment of every worker. */
export const readWorkerEnvironment = () => FunctionEnvironment.parse(process.env)

/** Whether Lambda starts the process for an invocation that waits for it, rather than ahead of time. */
export const isStartedOnDemand = (): boolean => process.env.AWS_LAMBDA_INITIALIZATION_TYPE === 'on-demand'

const EmailEnvironment = z.object({
  EMAIL_FROM: z.string().min(3),
  EMAIL_CONFIGURATION_SET: z.string().min(1),
  /** The rate of SES, which all invocations share. */
  EMAILS_PER_SECOND: z.coerce.number().int().positive(),
})

/** The environment of the worker that sends emails. */
export const readEmailEnvironment = () => EmailEnvironment.parse(process.env)

const EmailQueueEnvironment = z.object({ EMAIL_QUEUE_URL: z.string().min(1) })

/** The environment of functions that queue emails. */
export const readEmailQueueEnvironment = () => EmailQueueEnvironment.parse(process.env)

const DeliveryEnvironment = z.object({
  DELIVERY_QUEUE_URL: z.string().min(1),
  SLOW_DELIVERY_QUEUE_URL: z.string().min(1),
})

/** The environment of functions that queue webhook deliveries. */
export const readDeliveryEnvironment = () => DeliveryEnvironment.parse(process.env)

const FanOutEnvironment = z.object({ FAN_OUT_QUEUE_URL: z.string().min(1) })

/** The environment of functions that queue clinics for a further turn of the fan-out. */
export const readFanOutEnvironment = () => FanOutEnvironment.parse(process.env)

const WebhookEnvironment = z.object({
  /** `HOST:PORT` that webhooks may go to although it is not public. Only the local runner sets it, on request. */
  ALLOWED_WEBHOOK_HOST: z.string().optional(),
})

export const readWebhookEnvironment = () => WebhookEnvironment.parse(process.env)
