import {
  CHANNELS,
  type Channel,
  type Dispatch,
  MESSAGE_STATUSES,
  MESSAGE_TYPES,
  type Message,
} from '../../domain/messages/message.ts'
import { messageEventDraft } from '../../domain/webhooks/event.ts'
import type { CalendarEntity } from '../calendar/calendar-entity.ts'
import { calendarList } from '../calendar/calendar-list.ts'
import type { ListPlatform } from '../calendar/calendar-pages.ts'
import { sortableInstant } from '../keys/key.ts'
import {
  type AttributeMap,
  attribute,
  choice,
  instant,
  large,
  mark,
  nullable,
  number,
  optional,
  recordCodec,
  text,
  unlisted,
} from '../table/attributes.ts'
import { withUpdatedAtCodec } from '../table/updated-at-codec.ts'

const MESSAGE_FACETS: Record<Channel, string> = { sms: 's', email: 'e' }

/** `u`: due at; `k`, `l`: token and end of the claim; `x`: unresolved. */
type DispatchAttributes = { u: number; k?: string; l?: number; x?: 1 }

export const toDispatchAttributes = ({ dueAt, claim, isUnresolved }: Dispatch): DispatchAttributes => ({
  u: dueAt,
  ...(claim && { k: claim.token, l: claim.until }),
  ...(isUnresolved && { x: 1 }),
})

const toDispatch = ({ u, k, l, x }: DispatchAttributes): Dispatch => ({
  dueAt: number('u').decode(u),
  claim: k === undefined ? null : { token: text('k').decode(k), until: number('l').decode(l ?? u) },
  isUnresolved: x === 1,
})

const dispatch = attribute<Dispatch>('di', toDispatchAttributes, (stored) =>
  toDispatch(stored as DispatchAttributes),
)

/** Names are short because the cost of a list row is its size in bytes. */
export const MESSAGE_ATTRIBUTES = {
  channel: choice('ch', CHANNELS),
  type: choice('ty', MESSAGE_TYPES),
  recipient: text('to'),
  subject: large(nullable(text('su')), null),
  text: large(text('tx'), ''),
  status: choice('s', MESSAGE_STATUSES),
  providerMessageId: nullable(text('pm')),
  errorMessage: large(nullable(text('er')), null),
  sentAt: nullable(instant('at')),
  patient: { id: text('p'), fullName: text('pn') },
  acceptedAt: instant('c'),
  acceptedOn: text('on'),
  dispatch: unlisted(optional(dispatch)),
  isTest: unlisted(mark('te')),
} satisfies AttributeMap<Omit<Message, 'id'>>

export const MESSAGES: CalendarEntity<Message, Channel> = {
  ...withUpdatedAtCodec(recordCodec<Message>(MESSAGE_ATTRIBUTES)),
  createdAt: ({ acceptedAt }) => acceptedAt,
  entityCode: 'M',
  facets: MESSAGE_FACETS,
  position: ({ id, channel, acceptedAt, acceptedOn, patient, status }) => ({
    id,
    facet: MESSAGE_FACETS[channel],
    date: acceptedOn,
    moment: sortableInstant(acceptedAt),
    patient: patient.id,
    status,
  }),
  eventDraft: messageEventDraft,
}

/** The communication log, newest first, tallied by channel. */
export const messageStore = (platform: ListPlatform) => calendarList(platform, MESSAGES)
