import type {
  AcceptedMessage,
  MessageFacts,
  MessageRequest,
  MessageVerdict,
} from '../../domain/accept-message.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import type { Message } from '../../domain/message.ts'
import { clinicStore } from '../clinics.ts'
import { type Key, TTL } from '../keys/key.ts'
import { dueMessageKey, messageQuotaKey } from '../keys/messages.ts'
import { patientKey } from '../keys/patients.ts'
import { patientStore } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { ResponseToStore, StoredResponse } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retry-on-conflict.ts'
import type { Table } from '../table/table.ts'
import { messageStore } from './messages.ts'

/** Counts of a day are kept a little longer than the day lasts anywhere. */
const QUOTA_SECONDS = 3 * 24 * 60 * 60

/** Writes messages to the communication log before anything is sent. */
export function messageAcceptance({ table }: { table: Table }) {
  const messages = messageStore({ table })
  const patients = patientStore({ table })
  const clinics = clinicStore({ table })

  /**
   * Reads the facts, has `decide` judge them, and writes an accepted message with its due item, its stored response and
   * the day's count in one transaction, under the condition that the patient is still as read and the day's limit holds.
   * Until the claim on an SMS ends, repetitions of the request get {@link RequestInProgress}.
   */
  async function accept(
    clinic: ClinicId,
    request: Pick<MessageRequest, 'id' | 'patient' | 'channel' | 'date'>,
    decide: (facts: MessageFacts) => MessageVerdict,
    { idempotency, status, response }: ResponseToStore<Message>,
  ): Promise<StoredResponse | MessageVerdict> {
    const quotaKey = messageQuotaKey(clinic, request.date)
    return retryOnConflict(async (attempt) => {
      const [storedResponse, found, limits, quota, own] = await Promise.all([
        idempotency.find(),
        patients.findMany(clinic, [request.patient]),
        clinics.find(clinic),
        table.get(quotaKey),
        // An earlier attempt may have been committed although its response was lost.
        attempt === 1 ? null : messages.find(clinic, request.id),
      ])
      if (own) return { kind: 'accepted', message: own.record, dailyLimit: Number.POSITIVE_INFINITY }
      if (storedResponse) return storedResponse
      const patient = found.get(request.patient)
      const sentToday = (quota?.[request.channel] as number | undefined) ?? 0
      const verdict = decide({ patient, limits, sentToday })
      if (verdict.kind !== 'accepted') return verdict
      const { message } = verdict
      const changes = new Changeset(table, clinic)
      messages.change(changes, null, message)
      if (patient) changes.requireVersion(patientKey(clinic, patient.id), patient.version)
      addToQuota(changes, quotaKey, verdict)
      const claim = message.dispatch?.claim
      if (claim) idempotency.reserve(changes, status, response(message), request.patient, claim.until)
      else idempotency.store(changes, status, response(message), request.patient)
      if (message.dispatch)
        changes.put(dueMessageKey({ clinic, id: message.id, at: message.dispatch.dueAt }), 'new')
      await changes.commit()
      return verdict
    })
  }

  function addToQuota(changes: Changeset, quotaKey: Key, { message, dailyLimit }: AcceptedMessage): void {
    changes.add(quotaKey, message.channel, 1)
    changes.limitCounter(quotaKey, message.channel, dailyLimit)
    changes.set(quotaKey, TTL, Math.floor(Date.parse(message.acceptedAt) / 1000) + QUOTA_SECONDS)
  }

  return { accept }
}
