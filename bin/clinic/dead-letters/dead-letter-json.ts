import type { Message as DeadLetter } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import { deadLetterId } from './dead-letters.ts'

/** The fields of a well-formed body. SES sends ids as lists. A malformed body can hold anything, so its text is never shown. */
const id = z.union([z.uuid(), z.tuple([z.uuid()]).transform(([only]) => only)])
const Fields = z.object({
  clinic: id.optional(),
  message: id.optional(),
  webhook: id.optional(),
  delivery: id.optional(),
  waits: z.int().optional(),
  event: z.enum(['Send', 'Delivery', 'Bounce', 'Complaint', 'Reject']).optional(),
  at: z.iso.datetime({ offset: true }).optional(),
  task: z.object({ name: z.enum(['verify', 'migrate', 'reconcile']) }).optional(),
})

/** A dead letter as commands print it: ids, times and counts. */
export function deadLetterJson(queue: string, letter: DeadLetter) {
  const { Body = '', Attributes } = letter
  const fields = fieldsOf(Body)
  return {
    queue,
    letter_id: deadLetterId(letter),
    sent_at: new Date(Number(Attributes?.SentTimestamp ?? 0)).toISOString(),
    is_malformed: fields === null,
    bytes: Buffer.byteLength(Body),
    ...(fields && {
      clinic_id: fields.clinic,
      message_id: fields.message,
      webhook_id: fields.webhook,
      delivery_id: fields.delivery,
      waits: fields.waits,
      event: fields.event,
      at: fields.at,
      task: fields.task?.name,
    }),
  }
}

function fieldsOf(body: string): z.infer<typeof Fields> | null {
  try {
    const fields = Fields.parse(JSON.parse(body))
    return Object.values(fields).some((value) => value !== undefined) ? fields : null
  } catch {
    return null
  }
}

/** A dead letter as text, without its queue, id and time. */
export const describeDeadLetter = ({
  is_malformed,
  bytes,
  queue: _queue,
  letter_id: _id,
  sent_at: _sentAt,
  ...fields
}: ReturnType<typeof deadLetterJson>): string =>
  is_malformed
    ? `malformed, ${bytes} bytes`
    : Object.entries(fields)
        .flatMap(([name, value]) => (value === undefined ? [] : [`${name.replace(/_id$/, '')} ${value}`]))
        .join(', ')
