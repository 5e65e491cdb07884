import { listMessages, renderMessage } from '../shared/api/messages.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { messageStore } from '../shared/store/messages/messages.ts'

export const handler = endpoint(
  listMessages,
  { messages: messageStore },
  async ({ clinicId, clinic, query }, { messages }) => {
    const { patient_id: patient, channel, from, to } = query
    const page = await messages.page(clinicId, { patient, facet: channel, from, to }, query)
    return renderPage(page, query, (message) => renderMessage(message, clinic))
  },
)
