import { randomUUID } from 'node:crypto'
import { ApiError } from '../shared/api/errors.ts'
import { renderAccepted, sendMessage } from '../shared/api/messages.ts'
import type { Handover } from '../shared/delivery/handover.ts'
import { secondsToNextDay, wallClock } from '../shared/domain/clock.ts'
import type { Dispatch, Message, Occurrence } from '../shared/domain/message.ts'
import { fullName } from '../shared/domain/patient.ts'
import { countryOf } from '../shared/domain/phone-number.ts'
import { KeptAnswer } from '../shared/domain/stored-response.ts'
import { newUuid } from '../shared/domain/uuid.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { openEmailQueue, openSms, sendingLimits } from '../shared/runtime/messaging.ts'
import { type AcceptanceFacts, messageAcceptance } from '../shared/store/messages/acceptance.ts'
import { messageDispatch } from '../shared/store/messages/dispatch.ts'

/** An SMS is with SNS, or not, well before. */
const SMS_LEASE_MS = 20_000
/** An email that still waits then was not queued, or the queue is slow: the sweep queues it again. */
const EMAIL_DUE_MS = 2 * 60_000

export const handler = endpoint(
  sendMessage,
  {
    log: messageAcceptance,
    dispatch: messageDispatch,
    sms: openSms,
    emails: openEmailQueue,
    limits: sendingLimits,
    count: ({ count }) => count,
  },
  async ({ clinicId, clinic, body, now, once }, { log, dispatch, sms, emails, limits, count }) => {
    const { channel, patient_id: patient } = body
    const date = wallClock(now, clinic.timezone).date

    const decide = (facts: AcceptanceFacts) => {
      const { smsPerDay, emailsPerDay, smsCountries } = { ...limits, ...facts.clinic }
      const person = facts.patient
      if (!person || person.erased) throw new ApiError('patient_not_found')
      const recipient = channel === 'sms' ? person.phoneNumber : person.emailAddress
      if (!recipient) throw new ApiError(channel === 'sms' ? 'patient_has_no_phone' : 'patient_has_no_email')
      if (channel === 'sms' && !smsCountries.includes(countryOf(recipient) ?? ''))
        throw new ApiError('country_not_allowed')
      const mostToday = channel === 'sms' ? smsPerDay : emailsPerDay
      if (facts.sentToday >= mostToday) {
        const headers = { 'retry-after': String(secondsToNextDay(now, clinic.timezone)) }
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
        dispatch: channel === 'sms' ? claimed(now + SMS_LEASE_MS) : waiting(now + EMAIL_DUE_MS),
      }
      const busyUntil = message.dispatch?.claim?.until
      return { message, status: 202, answer: renderAccepted(message), mostToday, busyUntil }
    }

    const accepted = await log.accept(clinicId, { patient, channel, date }, once, decide)
    if (accepted instanceof KeptAnswer) return accepted
    const { message, answer } = accepted
    if (channel === 'email') {
      await emails
        .push({ clinic: clinicId, message: message.id, waits: 0 })
        .catch(() => count('email_not_queued'))
      return answer
    }

    const handover = await sms.send(message.recipient, message.text)
    if (handover.kind === 'unknown') {
      await dispatch
        .leaveUnresolved(clinicId, message.id, handover.reason, (changes) =>
          once.complete(changes, 202, answer),
        )
        .catch(() => count('sms_not_noted'))
      return answer
    }
    const known = renderAccepted({ ...message, status: handover.kind === 'accepted' ? 'sent' : 'failed' })
    const isNotSent = handover.kind === 'unavailable'
    await dispatch
      .note(clinicId, message.id, occurrenceOf(handover), (changes) =>
        once.complete(changes, 202, isNotSent ? null : known),
      )
      // The provider has spoken; that the log has not heard is for the operator, not a reason to send again.
      .catch(() => count('sms_not_noted'))
    if (isNotSent) throw new ApiError('provider_unavailable')
    return known
  },
)

const claimed = (until: number): Dispatch => ({
  dueAt: until,
  claim: { token: randomUUID(), until },
  isUnresolved: false,
})

const waiting = (dueAt: number): Dispatch => ({ dueAt, claim: null, isUnresolved: false })

const occurrenceOf = (handover: Exclude<Handover, { kind: 'unknown' }>): Occurrence =>
  handover.kind === 'accepted'
    ? { kind: 'sent', at: new Date().toISOString(), providerMessageId: handover.providerMessageId }
    : { kind: 'failed', reason: handover.reason }
