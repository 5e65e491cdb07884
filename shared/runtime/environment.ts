/** The only file that reads the environment of functions. Infrastructure sets exactly these variables. */
import * as z from 'zod'

/**
 * Parses the environment. Schemas are made when they are first used, because a function needs few of all here.
 * @throws ZodError that names the missing variables
 */
function read<Fields extends z.ZodRawShape>(makeFields: () => Fields) {
  let schema: z.ZodObject<Fields> | undefined
  return (): z.output<z.ZodObject<Fields>> => {
    schema ??= z.object(makeFields())
    return schema.parse(process.env)
  }
}

const functionFields = () => ({
  TABLE_NAME: z.string().min(1),
  /** A dimension of every metric. */
  STAGE: z.string().min(1),
})

const count = () => z.coerce.number().int().positive()

/** The environment of every endpoint. */
export const readEnvironment = read(() => ({
  ...functionFields(),
  /** Whether responses are checked against their schema: on in development, off in production to save time. */
  CHECK_RESPONSES: z.enum(['on', 'off']),
  /** The default rate of a credential. */
  REQUESTS_PER_MINUTE: count(),
}))

/** The environment of the endpoint that accepts messages. */
export const readSendingEnvironment = read(() => ({
  SMS_SENDER_ID: z.string().regex(/^[A-Za-z0-9]{1,11}$/),
  /** US dollars per SMS. */
  SMS_MAX_PRICE: z.string().regex(/^\d+\.\d\d$/),
  /** The default limits of a clinic. */
  SMS_PER_DAY: count(),
  EMAILS_PER_DAY: count(),
  MESSAGES_PER_RECIPIENT: count(),
  /** ISO 3166 codes, separated by commas. */
  SMS_COUNTRIES: z.string().transform((codes) => codes.split(',')),
}))

/** The environment of every worker. */
export const readWorkerEnvironment = read(functionFields)

/** Whether Lambda starts the process for an invocation that waits for it, rather than ahead of time. */
export const isStartedOnDemand = (): boolean => process.env.AWS_LAMBDA_INITIALIZATION_TYPE === 'on-demand'

/** The environment of the worker that sends emails. */
export const readEmailEnvironment = read(() => ({
  EMAIL_FROM: z.string().min(3),
  EMAIL_CONFIGURATION_SET: z.string().min(1),
  /** The rate of SES, which all invocations share. */
  EMAILS_PER_SECOND: count(),
}))

/** The environment of functions that queue emails. */
export const readEmailQueueEnvironment = read(() => ({ EMAIL_QUEUE_URL: z.string().min(1) }))

/** The environment of functions that queue webhook deliveries. */
export const readDeliveryEnvironment = read(() => ({
  DELIVERY_QUEUE_URL: z.string().min(1),
  SLOW_DELIVERY_QUEUE_URL: z.string().min(1),
}))

/** The environment of functions that queue clinics for a further turn of the fan-out. */
export const readFanOutEnvironment = read(() => ({ FAN_OUT_QUEUE_URL: z.string().min(1) }))

/** The environment of the worker that hands the rest of its work on. */
export const readMaintenanceEnvironment = read(() => ({ MAINTENANCE_QUEUE_URL: z.string().min(1) }))

export const readWebhookEnvironment = read(() => ({
  /** `HOST:PORT` that webhooks may go to although it is not public. Only the local runner sets it, on request. */
  ALLOWED_WEBHOOK_HOST: z.string().optional(),
}))
