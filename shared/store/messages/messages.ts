import { messageEventDraft } from '../../domain/event.ts'
import type { Channel, Dispatch, Message, MessageStatus, MessageType } from '../../domain/message.ts'
import { type CalendarEntity, calendarList, type ListPlatform } from '../calendar/calendar-list.ts'
import { sortableInstant } from '../calendar/payments.ts'

const MESSAGE_FACETS: Record<Channel, string> = { sms: 's', email: 'e' }

type MessageAttributes = {
  ch: Channel
  ty: MessageType
  to: string
  su?: string | null
  tx?: string
  s: MessageStatus
  pm: string | null
  er?: string | null
  at: number | null
  p: string
  pn: string
  on: string
  c: number
  di?: DispatchAttributes
}

/** Due at; claimed by, until; unresolved. */
type DispatchAttributes = { u: number; k?: string; l?: number; x?: 1 }

export const MESSAGES: CalendarEntity<Message, Channel> = {
  letter: 'M',
  facets: MESSAGE_FACETS,
  position: ({ id, channel, acceptedAt, acceptedOn, patient }) => ({
    id,
    facet: MESSAGE_FACETS[channel],
    date: acceptedOn,
    moment: sortableInstant(acceptedAt),
    patient: patient.id,
  }),
  encode: (message): MessageAttributes =>
    ({
      ch: message.channel,
      ty: message.type,
      to: message.recipient,
      su: message.subject,
      tx: message.text,
      s: message.status,
      pm: message.providerMessageId,
      er: message.errorMessage,
      at: message.sentAt && Date.parse(message.sentAt),
      p: message.patient.id,
      pn: message.patient.fullName,
      on: message.acceptedOn,
      c: Date.parse(message.acceptedAt),
      ...(message.dispatch && { di: toDispatchAttributes(message.dispatch) }),
    }) as MessageAttributes,
  decode: (item, id) => {
    const stored = item as unknown as MessageAttributes
    return {
      id,
      channel: stored.ch,
      type: stored.ty,
      recipient: stored.to,
      subject: stored.su ?? null,
      text: stored.tx ?? '',
      status: stored.s,
      providerMessageId: stored.pm,
      errorMessage: stored.er ?? null,
      sentAt: stored.at === null ? null : new Date(stored.at).toISOString(),
      patient: { id: stored.p, fullName: stored.pn },
      acceptedOn: stored.on,
      acceptedAt: new Date(stored.c).toISOString(),
      dispatch: stored.di ? toDispatch(stored.di) : null,
    }
  },
  large: ['tx', 'su', 'er'],
  unlisted: ['di'],
  eventDraft: messageEventDraft,
}

export const toDispatchAttributes = ({ dueAt, claim, isUnresolved }: Dispatch): DispatchAttributes => ({
  u: dueAt,
  ...(claim && { k: claim.token, l: claim.until }),
  ...(isUnresolved && { x: 1 }),
})

const toDispatch = ({ u, k, l, x }: DispatchAttributes): Dispatch => ({
  dueAt: u,
  claim: k === undefined ? null : { token: k, until: l ?? u },
  isUnresolved: x === 1,
})

/** The communication log, newest first, tallied by channel. */
export const messageStore = (platform: ListPlatform) => calendarList(platform, MESSAGES)
