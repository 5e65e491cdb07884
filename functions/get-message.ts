import { getMessage, renderMessage } from '../shared/api/messages.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { messageStore } from '../shared/store/messages/messages.ts'

export const handler = endpoint(
  getMessage,
  { messages: messageStore },
  async ({ clinicId, clinic, path }, { messages }) => {
    const found = await messages.find(clinicId, path.id)
    return found && { data: renderMessage(found.record, clinic) }
  },
)
