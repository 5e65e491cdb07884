import type { Invoice, InvoiceStatus, LineItem } from '../../domain/money/invoice.ts'
import { invoiceEventDraft } from '../../domain/webhooks/event.ts'
import { invoiceNumberKey, takenNumberKey } from '../keys/calendar.ts'
import {
  type AttributeMap,
  amount,
  amountNames,
  code,
  codec,
  instant,
  large,
  list,
  mark,
  nullable,
  number,
  object,
  optional,
  text,
  unlisted,
} from '../table/attributes.ts'
import { amountCodec } from '../table/stored-amounts.ts'
import { withUpdatedAtCodec } from '../table/updated-at-codec.ts'
import type { CalendarEntity } from './calendar-entity.ts'
import { calendarList } from './calendar-list.ts'
import type { ListPlatform } from './calendar-pages.ts'
import { CATALOGUE_REFERENCE, PERSON_REFERENCE } from './references.ts'

const INVOICE_FACETS: Record<InvoiceStatus, string> = {
  draft: 'd',
  pending: 'n',
  sent: 's',
  partially_paid: 'h',
  paid: 'p',
  overdue: 'o',
  cancelled: 'x',
  refunded: 'r',
}

export const LINE_ITEM_ATTRIBUTES = {
  id: text('id'),
  description: text('description'),
  quantity: number('quantity'),
  unitPrice: amount('unitPrice'),
  discount: amount('discount'),
  taxRate: number('taxRate'),
  tax: amount('tax'),
  total: amount('total'),
  doctor: optional(object('doctor', PERSON_REFERENCE)),
  hasOwnDoctor: mark('ownDoctor'),
  treatment: optional(object('treatment', CATALOGUE_REFERENCE)),
} satisfies AttributeMap<LineItem>

/** Names are short because the cost of a list row is its size in bytes. */
export const INVOICE_ATTRIBUTES = {
  number: text('no'),
  clinicStatus: code('set', INVOICE_FACETS),
  status: code('s', INVOICE_FACETS),
  issueDate: text('on'),
  dueDate: nullable(text('due')),
  paidAt: nullable(instant('at')),
  clinicPaidAt: unlisted(optional(instant('sat'))),
  currency: text('cur'),
  subtotal: amount('sub'),
  tax: amount('tax'),
  discount: amount('dis'),
  total: amount('tot'),
  paid: amount('paid'),
  patient: { id: text('p'), fullName: text('pn'), email: nullable(text('pe')) },
  appointmentId: optional(text('a')),
  doctor: optional(object('d', PERSON_REFERENCE)),
  lineItems: large(list('li', codec<LineItem>(LINE_ITEM_ATTRIBUTES)), []),
  createdAt: instant('c'),
} satisfies AttributeMap<Omit<Invoice, 'id'>>

export const INVOICES: CalendarEntity<Invoice, InvoiceStatus> = {
  ...withUpdatedAtCodec(amountCodec<Invoice>(INVOICE_ATTRIBUTES)),
  createdAt: ({ createdAt }) => createdAt,
  entityCode: 'I',
  facets: INVOICE_FACETS,
  amounts: amountNames(INVOICE_ATTRIBUTES),
  // Invoices are sorted by issue date, then id: they have no time of day.
  position: ({ id, number, status, issueDate, patient, appointmentId, doctor }) => ({
    id,
    facet: INVOICE_FACETS[status],
    date: issueDate,
    moment: '',
    patient: patient.id,
    number,
    appointment: appointmentId ?? undefined,
    billedDoctor: doctor?.id,
  }),
  onChange: (changeset, before, after) => {
    const keyOf = ({ id, number }: Invoice) => invoiceNumberKey(changeset.clinic, number, id)
    changeset.move(before && keyOf(before), after && keyOf(after))
    if (before && before.number !== after?.number)
      changeset.remove(takenNumberKey(changeset.clinic, before.number))
  },
  eventDraft: invoiceEventDraft,
}

/** Invoices by issue date, tallied by status; also by number. */
export const invoiceStore = (platform: ListPlatform) => calendarList(platform, INVOICES)
