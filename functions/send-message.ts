import type { ErrorKey } from '../shared/api/error-catalogue.ts'
import { ApiError, unknownIds } from '../shared/api/errors.ts'
import { renderAcceptedMessage, sendMessage } from '../shared/api/new-message.ts'
import { handOverSms } from '../shared/delivery/sms/hand-over-sms.ts'
import { secondsUntilNextDay, wallClock } from '../shared/domain/clock.ts'
import {
  acceptMessage,
  type MessageFacts,
  type MessageRequest,
  type MessageVerdict,
} from '../shared/domain/messages/accept-message.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { openEmailQueue, openSms, sendingLimits, smsDeadline } from '../shared/runtime/messaging.ts'
import { messageAcceptance } from '../shared/store/messages/acceptance.ts'
import { messageDispatch } from '../shared/store/messages/dispatch.ts'
import type { Changeset } from '../shared/store/table/changeset.ts'

const ERRORS = {
  patient_inactive: 'patient_inactive',
  declined: 'patient_declined_messages',
  no_phone: 'patient_has_no_phone',
  no_email: 'patient_has_no_email',
  country_not_allowed: 'country_not_allowed',
  number_not_allowed: 'number_not_allowed',
  daily_limit_reached: 'daily_message_limit',
  recipient_limit_reached: 'recipient_message_limit',
} as const satisfies Record<Exclude<MessageVerdict['kind'], 'accepted' | 'patient_not_found'>, ErrorKey>

export const handler = endpoint(
  sendMessage,
  {
    messages: messageAcceptance,
    emails: openEmailQueue,
    limits: sendingLimits,
    sms: (platform) => ({ ...platform, messages: messageDispatch(platform), sender: openSms() }),
    count: ({ count }) => count,
  },
  async (
    { clinicId, clinic, body, now, newId, requestId, write },
    { messages, emails, limits, sms, count },
  ) => {
    const request: MessageRequest = {
      id: newId(),
      claimToken: newId(),
      channel: body.channel,
      patient: body.patient_id,
      subject: body.subject ?? null,
      clinicName: clinic.name,
      text: body.message,
      now,
      date: wallClock(now, clinic.timezone).date,
      defaultLimits: limits,
    }
    const decide = (facts: MessageFacts) => acceptMessage(request, facts)
    const requested = write(renderAcceptedMessage)
    const verdict = await messages.accept(clinicId, request, decide, requested)
    if (verdict.kind === 'patient_not_found') throw unknownIds(verdict.kind, 'patient_id')
    if (verdict.kind !== 'accepted') throw toApiError(verdict.kind, now, clinic.timezone)
    const { message } = verdict
    if (!message.isTest) count('message_status', { channel: message.channel, status: message.status })
    if (message.channel === 'email') {
      const queued = emails.push({ clinic: clinicId, message: message.id, waits: 0, request: requestId })
      // After a failure the sweep queues it.
      await queued.catch((error) => count('email_not_queued', {}, error))
      return renderAcceptedMessage(message)
    }
    const handOver = { ...sms, deadline: smsDeadline(now) }
    const sent = await handOverSms<Changeset>(handOver, clinicId, message, async (changes, sent) => {
      await requested.complete(changes, sent)
      if (!sent) await messages.giveBack(changes, message.id)
    })
    if (!sent) throw new ApiError('provider_unavailable', { headers: { 'retry-after': '5' } })
    return renderAcceptedMessage(sent)
  },
)

function toApiError(rejection: keyof typeof ERRORS, now: number, timezone: string): ApiError {
  const headers = { 'retry-after': String(secondsUntilNextDay(now, timezone)) }
  const isLimit = rejection === 'daily_limit_reached' || rejection === 'recipient_limit_reached'
  return new ApiError(ERRORS[rejection], isLimit ? { headers } : {})
}
