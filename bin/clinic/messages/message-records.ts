/** The commands that read messages. */
import { listMessages, messageFilter } from '../../../shared/api/messages.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { findOfPatients, NAME_OR_CONTACT } from '../records/records-of-patients.ts'
import { type ResourceCommands, readStore } from '../records/resource-commands.ts'
import { messageJson } from './message-progress.ts'
import { unresolvedJson, unresolvedLines, unresolvedMessages } from './message-resolution.ts'

type Message = ReturnType<typeof messageJson>

const messageNow = (message: Parameters<typeof messageJson>[0], clinic: Clinic) =>
  messageJson(message, clinic, Date.now())

async function unresolvedOf(table: Table, clinics: readonly Clinic[]) {
  const data = (await unresolvedMessages(table, clinics, Date.now())).map(unresolvedJson)
  return { data, lines: unresolvedLines(data) }
}

/** Messages without their texts, which `message show --text` shows. */
export const messages: ResourceCommands<Message> = {
  group: 'message',
  noun: 'message',
  plural: 'messages',
  imported: 'message',
  list: {
    query: listMessages.query,
    part: {
      option: 'unresolved',
      description: 'those whose outcome is unknown, and why; without the other filters',
      read: ({ table, clinic }) => unresolvedOf(table, [clinic]),
      readAll: async (table) => unresolvedOf(table, await clinicStore({ table }).list()),
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
  cells: ({ created_at, channel, type, status, patient, error_message }) => [
    created_at,
    channel,
    type,
    status,
    patient.full_name,
    error_message ?? '',
  ],
}
