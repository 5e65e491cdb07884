import { listMessages, messageFilter, renderMessage } from '../shared/api/messages.ts'
import { readFilteredList } from '../shared/requests/record-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { messageStore } from '../shared/store/messages/messages.ts'

export const handler = endpoint(
  listMessages,
  { messages: messageStore },
  async ({ clinic, query, now }, { messages }) => {
    return readFilteredList('messages', { clinic, query, now }, messages, messageFilter(query), renderMessage)
  },
)
