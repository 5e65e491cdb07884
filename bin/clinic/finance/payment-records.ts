/** The commands that read payments. */
import { listPayments, paymentFilter, renderPayment } from '../../../shared/api/payments.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import type { Payment } from '../../../shared/domain/money/payment.ts'
import type { WithUpdatedAt } from '../../../shared/domain/with-updated-at.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { formatAmount } from '../records/amount-text.ts'
import { findOfPatients, NAME_OR_CONTACT } from '../records/records-of-patients.ts'
import { type ResourceCommands, readStore } from '../records/resource-commands.ts'

export const payments: ResourceCommands<ReturnType<typeof renderPayment>> = {
  group: 'payment',
  noun: 'payment',
  plural: 'payments',
  imported: 'payment',
  list: {
    query: listPayments.query,
    read: readStore('payments', paymentStore, paymentFilter, renderPayment),
  },
  show: async ({ table, clinic }, id) => {
    const found = await paymentStore({ table }).find(clinic.id, id)
    return found && paymentJson(found.record, clinic)
  },
  searched: `the patient's ${NAME_OR_CONTACT}`,
  find: (context, text) => findOfPatients(context, text, paymentStore, renderPayment),
  cells: ({ payment_date, type, status, amount, currency, payment_method, invoice_number, patient }) => [
    payment_date,
    type,
    status,
    `${formatAmount(amount, currency)} ${currency}`,
    payment_method,
    `invoice ${invoice_number}`,
    patient.full_name,
  ],
}

/** A payment as the operator sees it: also why it was voided. */
export const paymentJson = (payment: WithUpdatedAt<Payment>, clinic: Clinic) => ({
  ...renderPayment(payment, clinic),
  void_reason: payment.voidReason,
})
