/** The commands that read messages. */
import { listMessages, messageFilter } from '../../../shared/api/messages.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { findOfPatients, NAME_OR_CONTACT } from '../records/records-of-patients.ts'
import { type ResourceCommands, readStore } from '../records/resource-commands.ts'
import { messageJson } from './message-progress.ts'
import { unresolvedJson, unresolvedLines, unresolvedMessages } from './message-resolution.ts'

type Message = ReturnType<typeof messageJson>

const messageNow = (message: Parameters<typeof messageJson>[0], clinic: Clinic) =>
  messageJson(message, clinic, Date.now())

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
    read: readStore('messages', messageStore, messageFilter, messageNow),
  },
  show: async ({ table, clinic }, id) => {
    const found = await messageStore({ table }).find(clinic.id, id)
    return found && messageNow(found.record, clinic)
  },
  hasOwnShow: true,
  searched: `the patient's ${NAME_OR_CONTACT}`,
  find: (context, text) => findOfPatients(context, text, messageStore, messageNow),
  cells: ({ created_at, channel, type, status, patient }) => [
    created_at,
    channel,
    type,
    status,
    patient.full_name,
  ],
}
