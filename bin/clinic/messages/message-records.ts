/** The commands that read messages. */
import { listMessages, messageFilter } from '../../../shared/api/messages.ts'
import { readFilteredList } from '../../../shared/requests/record-list.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { findOfPatients, NAME_OR_CONTACT } from '../records/records-of-patients.ts'
import type { ResourceCommands } from '../records/resource-commands.ts'
import { messageJson } from './message-progress.ts'
import { unresolvedJson, unresolvedLines, unresolvedMessages } from './message-resolution.ts'

type Message = ReturnType<typeof messageJson>

/** Messages without their texts, which `messages show --text` shows. */
export const messages: ResourceCommands<Message> = {
  group: 'messages',
  noun: 'message',
  plural: 'messages',
  imported: 'message',
  list: {
    query: listMessages.query,
    part: {
      option: 'unresolved',
      description: 'those whose outcome is unknown, and why; without the other filters',
      read: async ({ table, clinic }) => {
        const data = (await unresolvedMessages(table, [clinic], Date.now())).map(unresolvedJson)
        return { data, lines: unresolvedLines(data) }
      },
    },
    read: ({ table, clinic }, query) => {
      const now = Date.now()
      const render = (message: Parameters<typeof messageJson>[0]) => messageJson(message, clinic, now)
      return readFilteredList(
        'messages',
        { clinic, query, now },
        messageStore({ table }),
        messageFilter(query),
        render,
      )
    },
  },
  show: async ({ table, clinic }, id) => {
    const found = await messageStore({ table }).find(clinic.id, id)
    return found && messageJson(found.record, clinic, Date.now())
  },
  hasOwnShow: true,
  searched: `the patient's ${NAME_OR_CONTACT}`,
  find: (context, text) =>
    findOfPatients(context, text, messageStore(context), (record) =>
      messageJson(record, context.clinic, Date.now()),
    ),
  cells: ({ created_at, channel, type, status, patient }) => [
    created_at,
    channel,
    type,
    status,
    patient.full_name,
  ],
}
