import { listPayments, paymentFilter, renderPayment } from '../shared/api/payments.ts'
import { readFilteredList } from '../shared/requests/record-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { paymentStore } from '../shared/store/calendar/payments.ts'

export const handler = endpoint(
  listPayments,
  { payments: paymentStore },
  async ({ clinic, query, now }, { payments }) => {
    return readFilteredList('payments', { clinic, query, now }, payments, paymentFilter(query), renderPayment)
  },
)
