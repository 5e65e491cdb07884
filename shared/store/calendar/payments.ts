import { paymentEventDraft } from '../../domain/event.ts'
import type { Payment, PaymentMethod, PaymentStatus, PaymentType } from '../../domain/payment.ts'
import { type CalendarEntity, calendarList, type ListPlatform } from './calendar-list.ts'
import { facetValue } from './calendar-row.ts'

const PAYMENT_FACETS: Record<PaymentStatus, string> = {
  pending: 'n',
  completed: 'c',
  failed: 'f',
  refunded: 'r',
}

type PaymentAttributes = {
  i: string
  no: string
  p: string
  pn: string
  a: number
  cur: string
  ty: PaymentType
  me: PaymentMethod
  s: string
  de?: string | null
  on: string
  c: number
}

/** Instants as sort keys: milliseconds in 14 digits, from the year 0 on. */
const YEAR_0 = -62_167_219_200_000
export const sortableInstant = (instant: string): string =>
  String(Date.parse(instant) - YEAR_0).padStart(15, '0')

export const PAYMENTS: CalendarEntity<Payment, PaymentStatus> = {
  letter: 'Y',
  facets: PAYMENT_FACETS,
  position: ({ id, status, date, createdAt, patient, invoice }) => ({
    id,
    facet: PAYMENT_FACETS[status],
    date,
    moment: sortableInstant(createdAt),
    patient: patient.id,
    invoice: invoice.id,
  }),
  encode: (payment): PaymentAttributes => ({
    i: payment.invoice.id,
    no: payment.invoice.number,
    p: payment.patient.id,
    pn: payment.patient.fullName,
    a: payment.amount,
    cur: payment.currency,
    ty: payment.type,
    me: payment.method,
    s: PAYMENT_FACETS[payment.status],
    de: payment.description,
    on: payment.date,
    c: Date.parse(payment.createdAt),
  }),
  decode: (item, id) => {
    const stored = item as unknown as PaymentAttributes
    return {
      id,
      invoice: { id: stored.i, number: stored.no },
      patient: { id: stored.p, fullName: stored.pn },
      amount: stored.a,
      currency: stored.cur,
      type: stored.ty,
      method: stored.me,
      status: facetValue(PAYMENT_FACETS, stored.s),
      description: stored.de ?? null,
      date: stored.on,
      createdAt: new Date(stored.c).toISOString(),
    }
  },
  large: ['de'],
  eventDraft: paymentEventDraft,
}

/** Payments by payment date, newest first, tallied by status; also by invoice. */
export const paymentStore = (platform: ListPlatform) => calendarList(platform, PAYMENTS)
