/** Records full of canaries: text, numbers and amounts that must not appear in any event. */
import type { Invoice } from '../../shared/domain/money/invoice.ts'
import type { Payment } from '../../shared/domain/money/payment.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { anInvoice, aPayment } from '../support/sample-records.ts'

/** Part of every text, number and amount of the records, and of the webhook endpoint's responses. */
export const CANARY = 'CANARY-7351'
export const PHONE = '905327351735'
export const AMOUNT = 73_517_351_735

export function canaryInvoice(patient: Invoice['patient'], createdAt: string): Invoice {
  const invoice = anInvoice({ id: newUuid(), number: `${CANARY} 2026-1`, total: AMOUNT, patient, createdAt })
  const doctor = { id: newUuid(), fullName: `Dr. ${CANARY}` }
  const lineItems = invoice.lineItems.map((item) => ({
    ...item,
    id: newUuid(),
    description: `${CANARY} appointment`,
    doctor,
    treatment: { id: newUuid(), name: CANARY },
  }))
  return { ...invoice, dueDate: '2026-06-04', appointmentId: newUuid(), doctor, lineItems }
}

export const canaryPayment = (invoice: Invoice, patient: Payment['patient'], createdAt: string): Payment =>
  aPayment(invoice, {
    id: newUuid(),
    patient,
    amount: AMOUNT,
    description: `${CANARY} paid`,
    createdAt,
  })
