import { randomUUID } from 'node:crypto'
import { ApiError } from '../shared/api/errors.ts'
import { renderAcceptedMessage, sendMessage } from '../shared/api/messages.ts'
import type { SendResult } from '../shared/delivery/send-result.ts'
import { secondsUntilNextDay, wallClock } from '../shared/domain/clock.ts'
import type { Dispatch, Message, ProviderFeedback } from '../shared/domain/message.ts'
import { fullName } from '../shared/domain/patient.ts'
import { countryOf } from '../shared/domain/phone-number.ts'
import { newUuid } from '../shared/domain/uuid.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { openEmailQueue, openSms, sendingLimits } from '../shared/runtime/messaging.ts'
import { type AcceptanceContext, messageAcceptance } from '../shared/store/messages/acceptance.ts'
import { messageDispatch } from '../shared/store/messages/dispatch.ts'
import { StoredResponse } from '../shared/store/table/idempotency.ts'

/** An SMS is with SNS, or not, well before. */
const SMS_LEASE_MS = 20_000
/** An email that still waits then was not queued, or the queue is slow: the sweep queues it again. */
const EMAIL_DUE_MS = 2 * 60_000

export const handler = endpoint(
  sendMessage,
  {
    messages: messageAcceptance,
    dispatch: messageDispatch,
    sms: openSms,
    emails: openEmailQueue,
    limits: sendingLimits,
    count: ({ count }) => count,
  },
  async (
    { clinicId, clinic, body, now, idempotency },
    { messages, dispatch, sms, emails, limits, count },
  ) => {
    const { channel, patient_id: patient } = body
    const date = wallClock(now, clinic.timezone).date

    const decide = (facts: AcceptanceContext) => {
      const { smsPerDay, emailsPerDay, smsCountries } = { ...limits, ...facts.clinic }
      const person = facts.patient
      if (!person || person.erased) throw new ApiError('patient_not_found')
      const recipient = channel === 'sms' ? person.phoneNumber : person.emailAddress
      if (!recipient) throw new ApiError(channel === 'sms' ? 'patient_has_no_phone' : 'patient_has_no_email')
      if (channel === 'sms' && !smsCountries.includes(countryOf(recipient) ?? ''))
        throw new ApiError('country_not_allowed')
      const maxToday = channel === 'sms' ? smsPerDay : emailsPerDay
      if (facts.sentToday >= maxToday) {
        const headers = { 'retry-after': String(secondsUntilNextDay(now, clinic.timezone)) }
        throw new ApiError('daily_message_limit', { headers })
      }
      const message: Message = {
        id: newUuid(),
        channel,
        type: 'manual',
        recipient,
        subject: channel === 'sms' ? null : (body.subject ?? clinic.name),
        text: body.message,
        status: 'queued',
        providerMessageId: null,
        errorMessage: null,
        sentAt: null,
        patient: { id: person.id, fullName: fullName(person) },
        acceptedAt: new Date(now).toISOString(),
        acceptedOn: date,
        dispatch:
          channel === 'sms' ? claimedDispatch(now + SMS_LEASE_MS) : waitingDispatch(now + EMAIL_DUE_MS),
      }
      const busyUntil = message.dispatch?.claim?.until
      return {
        message,
        status: 202,
        response: renderAcceptedMessage(message),
        dailyLimit: maxToday,
        busyUntil,
      }
    }

    const accepted = await messages.accept(clinicId, { patient, channel, date }, idempotency, decide)
    if (accepted instanceof StoredResponse) return accepted
    const { message, response } = accepted
    if (channel === 'email') {
      await emails
        .push({ clinic: clinicId, message: message.id, waits: 0 })
        .catch(() => count('email_not_queued'))
      return response
    }

    const result = await sms.send(message.recipient, message.text)
    if (result.kind === 'unknown') {
      await dispatch
        .markUnresolved(clinicId, message.id, result.reason, (changes) =>
          idempotency.complete(changes, 202, response),
        )
        .catch(() => count('sms_not_noted'))
      return response
    }
    const finalResponse = renderAcceptedMessage({
      ...message,
      status: result.kind === 'accepted' ? 'sent' : 'failed',
    })
    const isNotSent = result.kind === 'unavailable'
    await dispatch
      .recordFeedback(clinicId, message.id, toFeedback(result), (changes) =>
        idempotency.complete(changes, 202, isNotSent ? null : finalResponse),
      )
      // The provider has spoken; that the log has not heard is for the operator, not a reason to send again.
      .catch(() => count('sms_not_noted'))
    if (isNotSent) throw new ApiError('provider_unavailable')
    return finalResponse
  },
)

const claimedDispatch = (until: number): Dispatch => ({
  dueAt: until,
  claim: { token: randomUUID(), until },
  isUnresolved: false,
})

const waitingDispatch = (dueAt: number): Dispatch => ({ dueAt, claim: null, isUnresolved: false })

const toFeedback = (result: Exclude<SendResult, { kind: 'unknown' }>): ProviderFeedback =>
  result.kind === 'accepted'
    ? { kind: 'sent', at: new Date().toISOString(), providerMessageId: result.providerMessageId }
    : { kind: 'failed', reason: result.reason }
