import type { ClinicId } from '../../domain/clinic.ts'
import {
  type MessageFacts,
  type MessageRequest,
  type MessageVerdict,
  recipientOf,
} from '../../domain/messages/accept-message.ts'
import type { Message } from '../../domain/messages/message.ts'
import { clinicStore } from '../clinics.ts'
import { dueMessageKey } from '../keys/messages.ts'
import { patientKey } from '../keys/patients.ts'
import { patientStore } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { RequestedWrite } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { messageStore } from './messages.ts'
import { messageQuotas } from './quotas.ts'

/** The limits of a message that was accepted before. */
const NO_LIMITS = { dailyLimit: Number.POSITIVE_INFINITY, recipientLimit: Number.POSITIVE_INFINITY }

/** Writes messages to the communication log before anything is sent. */
export function messageAcceptance({ table }: { table: Table }) {
  const messages = messageStore({ table })
  const patients = patientStore({ table })
  const clinics = clinicStore({ table })
  const quotas = messageQuotas({ table })

  /**
   * Reads the facts, calls `decide` with them, and writes an accepted message with its due item, its stored response and
   * the day's counts in one transaction, under the condition that the patient is still as read and the limits hold.
   * Until the claim on an SMS ends, repetitions of the request get {@link RequestInProgress}.
   * @throws RequestCompleted
   */
  async function accept(
    clinic: ClinicId,
    request: Pick<MessageRequest, 'id' | 'patient' | 'channel' | 'date'>,
    decide: (facts: MessageFacts) => MessageVerdict,
    write: RequestedWrite<Message>,
  ): Promise<MessageVerdict> {
    const { channel, date } = request
    return retryOnConflict(async (attempt) => {
      // An earlier attempt may have been committed although its response was lost.
      const own = attempt === 1 ? null : await messages.find(clinic, request.id)
      if (own) return { kind: 'accepted', message: own.record, ...NO_LIMITS }
      const [patient, settings, sentToday] = await Promise.all([
        patients.find(clinic, request.patient),
        clinics.find(clinic),
        quotas.sentToday(clinic, date, channel),
        write.requireNew(),
      ])
      if (!settings) throw new RangeError('a message needs a clinic')
      const secret = settings.recipientSecret
      const recipient = patient ? recipientOf(patient, channel) : null
      // The transaction checks the limit. The count is read only after it failed, which saves each message a round trip.
      const sentToRecipient =
        attempt === 1 || recipient === null
          ? 0
          : await quotas.sentToRecipient(clinic, date, channel, { recipient, secret })
      const verdict = decide({
        patient,
        limits: settings,
        isTest: settings.isTest,
        sentToday,
        sentToRecipient,
      })
      if (verdict.kind !== 'accepted') return verdict
      const changes = new Changeset(table, clinic)
      const message = messages.change(changes, null, verdict.message)
      if (patient) changes.requireVersion(patientKey(clinic, patient.id), patient.version)
      quotas.add(changes, verdict, secret)
      const claim = message.dispatch?.claim
      if (claim) write.reserve(changes, message, request.patient, claim.until)
      else write.store(changes, message, request.patient, message.id)
      if (message.dispatch)
        changes.put(dueMessageKey({ clinic, id: message.id, at: message.dispatch.dueAt }), 'new')
      await changes.commit()
      return verdict
    })
  }

  /** Adds to a transaction that takes back the counts of a message that was not sent. */
  async function giveBack(changes: Changeset, id: string): Promise<void> {
    const [clinic, message] = await Promise.all([
      clinics.find(changes.clinic),
      // Its recipient may have been erased since it was accepted.
      messages.find(changes.clinic, id),
    ])
    if (!clinic || !message) throw new RangeError('a message needs a clinic')
    quotas.giveBack(changes, message.record, clinic.recipientSecret)
  }

  return { accept, giveBack }
}
