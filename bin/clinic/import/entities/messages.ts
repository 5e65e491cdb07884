import * as z from 'zod'
import { oneOf } from '../../../../shared/api/schemas.ts'
import {
  CHANNELS,
  MESSAGE_STATUSES,
  MESSAGE_TYPES,
  type Message,
  PROVIDERS,
} from '../../../../shared/domain/messages/message.ts'
import { fullName } from '../../../../shared/domain/patients/patient.ts'
import { multiLineText, singleLineText } from '../../../../shared/domain/patients/text-fields.ts'
import { clinicTimestamp } from '../../../../shared/domain/timestamp.ts'
import { MESSAGES, messageStore } from '../../../../shared/store/messages/messages.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import { RecordRef } from '../external-ids/resolve-references.ts'
import { RowRejectedError } from '../files/import-errors.ts'
import { definedFields, type ImportEntity, isUnchanged, type RowFields } from './entity.ts'
import { writePatientRows } from './patient-rows.ts'
import { Instant } from './row-fields.ts'

type Fields = RowFields<Omit<Message, 'id' | 'patient' | 'acceptedOn' | 'dispatch' | 'isTest'>> & {
  patient: string
}

const columns = {
  patient_external_id: RecordRef,
  channel: oneOf(CHANNELS),
  type: oneOf(MESSAGE_TYPES).nullish(),
  recipient: singleLineText(254),
  subject: singleLineText(200).nullish(),
  message: multiLineText(10_000),
  status: oneOf(MESSAGE_STATUSES).nullish(),
  provider: z.enum(PROVIDERS, { error: 'must be sns for sms, ses for email' }).nullish(),
  provider_message_id: singleLineText(200).nullish(),
  error_message: singleLineText(500).nullish(),
  sent_at: Instant.nullish(),
  created_at: Instant.nullish(),
}

/** `created_at` is the time at which the clinic accepted the message. Defaults to `sent_at`. */
export function messageImport(table: Table, now: () => number): ImportEntity<Fields> {
  const list = messageStore({ table })
  return {
    name: 'messages',
    idKind: 'message',
    columns: Object.keys(columns),
    required: ['patient_external_id', 'channel', 'recipient', 'message'],
    schema: (_clinic, _now, idOf) =>
      z
        .strictObject(columns)
        .refine((row) => row.provider == null || row.provider === PROVIDERS[row.channel], {
          path: ['provider'],
          error: 'must be sns for sms, ses for email',
        })
        .refine((row) => row.channel === 'email' || row.subject == null, {
          path: ['subject'],
          error: 'is only allowed for emails',
        })
        .transform(
          (row): Fields => ({
            patient: idOf('patient', row.patient_external_id),
            channel: row.channel,
            type: row.type ?? undefined,
            recipient: row.recipient,
            subject: row.subject,
            text: row.message,
            status: row.status ?? undefined,
            providerMessageId: row.provider_message_id,
            errorMessage: row.error_message,
            sentAt: row.sent_at,
            acceptedAt: row.created_at ?? row.sent_at ?? undefined,
          }),
        ),
    write: (run, batch) =>
      writePatientRows(
        { table, entityCode: MESSAGES.entityCode, list, valuesOf: messageValues },
        run,
        batch,
        async () =>
          ({ id, fields }, patient, before) => {
            const { patient: _, ...facts } = fields
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
              ...(definedFields(facts) as Pick<Message, 'channel' | 'recipient' | 'text'>),
              id,
              patient: { id: patient.id, fullName: fullName(patient) },
            }
            const acceptedOn = clinicTimestamp(message.acceptedAt, run.clinic.timezone).slice(0, 10)
            const after = { ...message, acceptedOn }
            // The sender of the message would continue, whatever the row says.
            if (before?.dispatch && !isUnchanged(before, after))
              throw new RowRejectedError(
                'the message is still being sent; import the row once it is sent, or has failed',
              )
            return after
          },
      ),
  }
}

export const messageValues = (message: Message): ColumnValues => ({
  patient_external_id: message.patient.id,
  channel: message.channel,
  type: message.type,
  recipient: message.recipient,
  subject: message.subject,
  message: message.text,
  status: message.status,
  provider_message_id: message.providerMessageId,
  error_message: message.errorMessage,
  sent_at: message.sentAt,
  created_at: message.acceptedAt,
})
