/** Records full of canaries: text, numbers and amounts that must not appear in any event. */
import type { Invoice } from '../../shared/domain/money/invoice.ts'
import { NEW_PAYMENT, type Payment } from '../../shared/domain/money/payment.ts'
import { newUuid } from '../../shared/domain/uuid.ts'

/** Part of every text, number and amount of the records, and of the webhook endpoint's responses. */
export const CANARY = 'CANARY-7351'
export const PHONE = '905327351735'
export const AMOUNT = 73_517_351_735

export const canaryInvoice = (patient: Invoice['patient'], createdAt: string): Invoice => ({
  id: newUuid(),
  number: `${CANARY} 2026-1`,
  clinicStatus: 'sent',
  status: 'sent',
  issueDate: '2026-05-04',
  dueDate: '2026-06-04',
  paidAt: null,
  clinicPaidAt: null,
  currency: 'EUR',
  subtotal: AMOUNT,
  tax: 0,
  discount: 0,
  total: AMOUNT,
  paid: 0,
  patient,
  lineItems: [
    {
      id: newUuid(),
      description: `${CANARY} appointment`,
      quantity: 10_000,
      unitPrice: AMOUNT,
      discount: 0,
      taxRate: 0,
      tax: 0,
      total: AMOUNT,
    },
  ],
  createdAt,
})

export const canaryPayment = (invoice: Invoice, patient: Payment['patient'], createdAt: string): Payment => ({
  ...NEW_PAYMENT,
  id: newUuid(),
  invoice: { id: invoice.id, number: invoice.number },
  patient,
  amount: AMOUNT,
  currency: 'EUR',
  type: 'payment',
  method: 'card',
  status: 'completed',
  description: `${CANARY} paid`,
  date: '2026-05-04',
  createdAt,
})
