/** The kinds of records that `list`, `show` and `find` read. */
import type { Command } from 'commander'
import { appointments } from './appointments/appointment-records.ts'
import { invoices } from './finance/invoice-records.ts'
import { payments } from './finance/payment-records.ts'
import { messages } from './messages/message-records.ts'
import { patients } from './patients/patient-records.ts'
import { addFindCommand } from './records/find-command.ts'
import { addListCommand } from './records/list-command.ts'
import type { RecordKind } from './records/record-kind.ts'
import { addShowCommand } from './records/show-command.ts'
import { addDeliveryList, webhooks } from './webhooks/webhook-records.ts'

/** Adds the commands of all kinds to their groups, which exist already. */
export function addRecordKinds(program: Command): void {
  addRecordCommands(program, patients)
  addRecordCommands(program, appointments)
  addRecordCommands(program, invoices)
  addRecordCommands(program, payments)
  addRecordCommands(program, messages)
  addRecordCommands(program, webhooks)
  addDeliveryList(program)
}

/** Adds the commands of a kind to its group: `list`, `show` and `find`, with the filters of the API. */
function addRecordCommands<Wire extends { readonly id: string }>(
  program: Command,
  kind: RecordKind<Wire>,
): void {
  const group = program.commands.find((command) => command.name() === kind.group)
  if (!group) throw new RangeError(`the program has no group ${kind.group}`)
  const { list } = kind
  if (list) addListCommand(group.command('list'), `list a clinic's ${kind.plural}`, { ...kind, list })
  if (!kind.hasOwnShow) addShowCommand(group, kind)
  addFindCommand(group, kind)
}
