/** The fields of requests that create or change a webhook endpoint. */
import * as z from 'zod'
import { singleLineText } from '../domain/patients/text-fields.ts'
import { EVENTS } from '../domain/webhooks/event.ts'
import { secretIssue } from '../domain/webhooks/webhook-secret.ts'
import { webhookUrlIssue } from '../domain/webhooks/webhook-url.ts'
import { RequestedEvent } from './events.ts'

/** A URL that webhooks may be sent to. Parsing normalizes it. `allowedHost` is allowed although it is not public. */
export const urlField = (allowedHost?: string) =>
  z
    .string({ error: 'must be text' })
    .superRefine((text, context) => {
      const issue = webhookUrlIssue(text, allowedHost)
      if (issue !== null) context.addIssue({ code: 'custom', message: issue })
    })
    .overwrite((text) => URL.parse(text)?.href ?? text)
    .meta({
      format: 'uri',
      maxLength: 2048,
    })

export const Url = urlField()

export const Events = z
  .array(RequestedEvent, { error: 'must be a list of event names' })
  .min(1, { error: 'must name at least one event' })
  .max(EVENTS.length, { error: `must name at most ${EVENTS.length} events` })
  .refine((events) => new Set(events).size === events.length, { error: 'must not name an event twice' })
  .meta({ uniqueItems: true })

export const Description = singleLineText(500).nullish()

export const IsActive = z.boolean({ error: 'must be true or false' })

export const Secret = z
  .string({ error: 'must be text' })
  .superRefine((secret, context) => {
    const issue = secretIssue(secret)
    if (issue !== null) context.addIssue({ code: 'custom', message: issue })
  })
  .meta({
    minLength: 16,
    maxLength: 256,
    pattern: String.raw`^[\x21-\x7e]+$`,
  })
