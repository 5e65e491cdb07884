import { invoiceEventDraft } from '../../domain/event.ts'
import type { Invoice, InvoiceStatus, LineItem } from '../../domain/invoice.ts'
import { type CalendarEntity, calendarList, type ListPlatform } from './calendar-list.ts'
import { facetValue } from './calendar-row.ts'

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

type InvoiceAttributes = {
  no: string
  s: string
  set: string
  on: string
  due: string | null
  at: number | null
  cur: string
  sub: number
  tax: number
  dis: number
  tot: number
  paid: number
  p: string
  pn: string
  pe: string | null
  li?: LineItem[]
  c: number
}

export const INVOICES: CalendarEntity<Invoice, InvoiceStatus> = {
  letter: 'I',
  facets: INVOICE_FACETS,
  // By issue date, then id: an invoice has no time of day.
  position: ({ id, status, issueDate, patient }) => ({
    id,
    facet: INVOICE_FACETS[status],
    date: issueDate,
    moment: '',
    patient: patient.id,
  }),
  encode: (invoice): InvoiceAttributes =>
    ({
      no: invoice.number,
      s: INVOICE_FACETS[invoice.status],
      set: INVOICE_FACETS[invoice.clinicStatus],
      on: invoice.issueDate,
      due: invoice.dueDate,
      at: invoice.paidAt && Date.parse(invoice.paidAt),
      cur: invoice.currency,
      sub: invoice.subtotal,
      tax: invoice.tax,
      dis: invoice.discount,
      tot: invoice.total,
      paid: invoice.paid,
      p: invoice.patient.id,
      pn: invoice.patient.fullName,
      pe: invoice.patient.email,
      li: [...invoice.lineItems],
      c: Date.parse(invoice.createdAt),
    }) as InvoiceAttributes,
  decode: (item, id) => {
    const stored = item as unknown as InvoiceAttributes
    return {
      id,
      number: stored.no,
      status: facetValue(INVOICE_FACETS, stored.s),
      clinicStatus: facetValue(INVOICE_FACETS, stored.set),
      issueDate: stored.on,
      dueDate: stored.due,
      paidAt: stored.at === null ? null : new Date(stored.at).toISOString(),
      currency: stored.cur,
      subtotal: stored.sub,
      tax: stored.tax,
      discount: stored.dis,
      total: stored.tot,
      paid: stored.paid,
      patient: { id: stored.p, fullName: stored.pn, email: stored.pe },
      lineItems: stored.li ?? [],
      createdAt: new Date(stored.c).toISOString(),
    }
  },
  large: ['li'],
  eventDraft: invoiceEventDraft,
}

/** Invoices by issue date, tallied by status. */
export const invoiceStore = (platform: ListPlatform) => calendarList(platform, INVOICES)
