/** The resources that `list`, `show` and `find` read. */
import type { Command } from 'commander'
import { appointments } from './appointments/appointment-records.ts'
import { invoices } from './finance/invoice-records.ts'
import { payments } from './finance/payment-records.ts'
import { messages } from './messages/message-records.ts'
import { patients } from './patients/patient-records.ts'
import { addResourceFind } from './records/find-command.ts'
import { addListCommand } from './records/list-command.ts'
import type { ResourceCommands } from './records/resource-commands.ts'
import { addShowCommand } from './records/show-command.ts'
import { addDeliveryList, webhooks } from './webhooks/webhook-records.ts'

/** Adds the commands of all resources to their groups, which exist already. */
export function addResources(program: Command): void {
  addResourceCommands(program, patients)
  addResourceCommands(program, appointments)
  addResourceCommands(program, invoices)
  addResourceCommands(program, payments)
  addResourceCommands(program, messages)
  addResourceCommands(program, webhooks)
  addDeliveryList(program)
}

/** Adds the commands of a resource to its group: `list`, `show` and `find`, with the filters of the API. */
function addResourceCommands<Wire extends { readonly id: string }>(
  program: Command,
  resource: ResourceCommands<Wire>,
): void {
  const group = program.commands.find((command) => command.name() === resource.group)
  if (!group) throw new RangeError(`the program has no group ${resource.group}`)
  const { list } = resource
  if (list) addListCommand(group.command('list'), `list a clinic's ${resource.plural}`, { ...resource, list })
  if (!resource.hasOwnShow) addShowCommand(group, resource)
  addResourceFind(group, resource)
}
