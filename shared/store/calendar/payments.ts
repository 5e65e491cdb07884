import {
  PAYMENT_METHODS,
  PAYMENT_TYPES,
  type Payment,
  type PaymentStatus,
} from '../../domain/money/payment.ts'
import { paymentEventDraft } from '../../domain/webhooks/event.ts'
import { sortableInstant } from '../keys/key.ts'
import {
  type AttributeMap,
  amount,
  amountNames,
  choice,
  code,
  instant,
  large,
  nullable,
  optional,
  text,
  unlisted,
} from '../table/attributes.ts'
import { amountCodec } from '../table/stored-amounts.ts'
import { withUpdatedAtCodec } from '../table/updated-at-codec.ts'
import type { CalendarEntity } from './calendar-entity.ts'
import { calendarList } from './calendar-list.ts'
import type { ListPlatform } from './calendar-pages.ts'

const PAYMENT_FACETS: Record<PaymentStatus, string> = {
  pending: 'n',
  completed: 'c',
  failed: 'f',
  refunded: 'r',
}

/** Names are short because the cost of a list row is its size in bytes. */
export const PAYMENT_ATTRIBUTES = {
  invoice: { id: text('i'), number: text('no') },
  patient: { id: text('p'), fullName: text('pn') },
  amount: amount('a'),
  currency: text('cur'),
  type: choice('ty', PAYMENT_TYPES),
  method: choice('me', PAYMENT_METHODS),
  status: code('s', PAYMENT_FACETS),
  description: large(nullable(text('de')), null),
  date: text('on'),
  voidedAt: optional(instant('va')),
  voidReason: unlisted(optional(text('vr'))),
  createdAt: instant('c'),
} satisfies AttributeMap<Omit<Payment, 'id'>>

export const PAYMENTS: CalendarEntity<Payment, PaymentStatus> = {
  ...withUpdatedAtCodec(amountCodec<Payment>(PAYMENT_ATTRIBUTES)),
  createdAt: ({ createdAt }) => createdAt,
  entityCode: 'Y',
  facets: PAYMENT_FACETS,
  amounts: amountNames(PAYMENT_ATTRIBUTES),
  position: ({ id, status, date, createdAt, patient, invoice }) => ({
    id,
    facet: PAYMENT_FACETS[status],
    date,
    moment: sortableInstant(createdAt),
    patient: patient.id,
    invoice: invoice.id,
  }),
  eventDraft: paymentEventDraft,
}

/** Payments by payment date, newest first, tallied by status; also by invoice. */
export const paymentStore = (platform: ListPlatform) => calendarList(platform, PAYMENTS)
