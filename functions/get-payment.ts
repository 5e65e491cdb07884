import { getPayment, renderPaymentDetails } from '../shared/api/payments.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { paymentStore } from '../shared/store/calendar/payments.ts'

export const handler = endpoint(
  getPayment,
  { payments: paymentStore },
  async ({ clinicId, clinic, path }, { payments }) => {
    const found = await payments.find(clinicId, path.id)
    return found && { data: renderPaymentDetails(found.record, clinic) }
  },
)
