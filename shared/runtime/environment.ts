/** The one place that reads the environment. Infrastructure sets exactly these variables. */
import * as z from 'zod'

const Environment = z.object({
  TABLE_NAME: z.string().min(1),
  /** Whether answers are held against their response schema: on in development, not paid for in production. */
  CHECK_RESPONSES: z.enum(['on', 'off']),
  /** For credentials that were issued without a rate of their own. */
  REQUESTS_PER_MINUTE: z.coerce.number().int().positive(),
})

export type Environment = z.infer<typeof Environment>

/** @throws ZodError naming the variables that are missing */
export const readEnvironment = (): Environment => Environment.parse(process.env)

const SendingEnvironment = z.object({
  SMS_SENDER_ID: z.string().regex(/^[A-Za-z0-9]{1,11}$/),
  /** US dollars for one SMS. */
  SMS_MAX_PRICE: z.string().regex(/^\d+\.\d\d$/),
  /** For clinics without limits of their own. */
  SMS_PER_DAY: z.coerce.number().int().positive(),
  EMAILS_PER_DAY: z.coerce.number().int().positive(),
  /** ISO 3166 codes, separated by commas. */
  SMS_COUNTRIES: z.string().transform((codes) => codes.split(',')),
})

/** Of what accepts messages. */
export const readSendingEnvironment = () => SendingEnvironment.parse(process.env)

const WorkerEnvironment = z.object({ TABLE_NAME: z.string().min(1) })

/** Of what no request starts. */
export const readWorkerEnvironment = () => WorkerEnvironment.parse(process.env)

const EmailEnvironment = z.object({
  EMAIL_FROM: z.string().min(3),
  EMAIL_CONFIGURATION_SET: z.string().min(1),
})

/** Of the consumer that sends emails. */
export const readEmailEnvironment = () => EmailEnvironment.parse(process.env)

const EmailQueueEnvironment = z.object({ EMAIL_QUEUE_URL: z.string().min(1) })

/** Of what queues emails. */
export const readEmailQueueEnvironment = () => EmailQueueEnvironment.parse(process.env)

const DeliveryEnvironment = z.object({
  DELIVERY_QUEUE_URL: z.string().min(1),
  SLOW_DELIVERY_QUEUE_URL: z.string().min(1),
})

/** Of what queues deliveries to webhooks. */
export const readDeliveryEnvironment = () => DeliveryEnvironment.parse(process.env)

const WebhookEnvironment = z.object({
  /** `HOST:PORT` on this machine that webhooks may name. Set by the local runner when it is asked to, by nothing else. */
  ALLOWED_WEBHOOK_HOST: z.string().optional(),
})

export const readWebhookEnvironment = () => WebhookEnvironment.parse(process.env)
