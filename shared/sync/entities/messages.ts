import * as z from 'zod'
import { messageSubject, messageText } from '../../api/new-message.ts'
import { oneOf } from '../../api/schemas.ts'
import {
  CHANNELS,
  MESSAGE_STATUSES,
  MESSAGE_TYPES,
  type Message,
  PROVIDERS,
} from '../../domain/messages/message.ts'
import { fullName } from '../../domain/patients/patient.ts'
import { singleLineText } from '../../domain/patients/text-fields.ts'
import { clinicTimestamp } from '../../domain/timestamp.ts'
import { MESSAGES, messageStore } from '../../store/messages/messages.ts'
import type { Table } from '../../store/table/table.ts'
import { RowRejectedError } from '../outcomes/row-rejected.ts'
import { columnTable, defaulted, nullable, reference, required } from './columns.ts'
import { definedFields, type ImportEntity, isUnchanged, type RowFields } from './entity.ts'
import { writePatientRows } from './patient-rows.ts'
import { Instant } from './row-fields.ts'

type Fields = RowFields<Omit<Message, 'id' | 'patient' | 'acceptedOn' | 'dispatch' | 'isTest'>> & {
  readonly patient: string
}

const columns = columnTable(
  {
    patient_external_id: reference('patient', 'patient'),
    channel: required('channel', oneOf(CHANNELS)),
    type: defaulted('type', oneOf(MESSAGE_TYPES)),
    recipient: required('recipient', singleLineText(254)),
    subject: nullable('subject', messageSubject),
    message: required('text', messageText),
    status: defaulted('status', oneOf(MESSAGE_STATUSES)),
    // Follows from the channel.
    provider: { cell: z.enum(PROVIDERS, { error: 'must be sns for sms, ses for email' }).nullish() },
    provider_message_id: nullable('providerMessageId', singleLineText(200)),
    error_message: nullable('errorMessage', singleLineText(500)),
    sent_at: nullable('sentAt', Instant),
    created_at: defaulted('acceptedAt', Instant),
  },
  (row) =>
    row
      .refine(({ provider, channel }) => provider == null || provider === PROVIDERS[channel], {
        path: ['provider'],
        error: 'must be sns for sms, ses for email',
      })
      .refine(({ channel, subject }) => channel === 'email' || subject == null, {
        path: ['subject'],
        error: 'is only allowed for emails',
      }),
)

export const { cells: messageCells, valuesOf: messageValues } = columns

/** `created_at` is the time at which the clinic accepted the message. Defaults to `sent_at`. */
export function messageImport(table: Table, now: () => number): ImportEntity<Fields> {
  const list = messageStore({ table })
  return {
    name: 'messages',
    idKind: 'message',
    ...columns,
    write: (run, batch) =>
      writePatientRows(
        { table, entityCode: MESSAGES.entityCode, list, valuesOf: messageValues },
        run,
        batch,
        async () =>
          ({ id, fields }, patient, before) => {
            const { patient: _, acceptedAt = fields.sentAt ?? undefined, ...facts } = fields
            const message = {
              type: 'manual' as const,
              subject: null,
              status: 'sent' as const,
              providerMessageId: null,
              errorMessage: null,
              sentAt: null,
              // The clinic's own system sends it, even if its status is queued.
              dispatch: null,
              acceptedAt: new Date(now()).toISOString(),
              ...before,
              ...(definedFields({ ...facts, acceptedAt }) as Pick<Message, 'channel' | 'recipient' | 'text'>),
              id,
              patient: { id: patient.id, fullName: fullName(patient) },
            }
            const acceptedOn = clinicTimestamp(message.acceptedAt, run.clinic.timezone).slice(0, 10)
            const after = { ...message, acceptedOn }
            // The sender of the message would continue, whatever the row says.
            if (before?.dispatch && !isUnchanged(before, after))
              throw new RowRejectedError(
                { field: 'status', issue: 'message_in_progress' },
                'the message is still being sent; import the row once it is sent, or has failed',
              )
            return after
          },
      ),
  }
}
