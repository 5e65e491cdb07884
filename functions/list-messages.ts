import { listMessages, renderMessage } from '../shared/api/messages.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { readRecordList } from '../shared/runtime/record-list.ts'
import { messageStore } from '../shared/store/messages/messages.ts'

export const handler = endpoint(
  listMessages,
  { messages: messageStore },
  async ({ clinicId, clinic, query, now }, { messages }) => {
    const { patient_id: patient, channel, from, to } = query
    const filter = { patient, facet: channel, from, to }
    return readRecordList(
      'messages',
      { clinic, query, now },
      {
        page: (request) => messages.page(clinicId, filter, request),
        after: (position, limit) => messages.after(clinicId, filter, position, limit),
        changes: (range, limit) => messages.changes(clinicId, range, limit),
      },
      (message) => renderMessage(message, clinic),
    )
  },
)
