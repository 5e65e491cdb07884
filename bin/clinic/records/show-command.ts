import type { Command } from 'commander'
import { isUuid } from '../../../shared/domain/uuid.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { print } from '../tool/output.ts'
import { unknownRecord } from './change-record.ts'
import { clockNotes, describeRecord } from './record-text.ts'
import type { ResourceCommands } from './resource-commands.ts'

type Given = { readonly clinic: string }

/** Adds `show`. */
export function addShowCommand<Wire>(group: Command, resource: ResourceCommands<Wire>): void {
  group
    .command('show')
    .description(`show one ${resource.noun}`)
    .argument('<id>', `id of the ${resource.noun}`)
    .requiredOption('--clinic <id>')
    .action(async (id: string, given: Given, command: Command) => {
      const context = await openClinic(given, command)
      const record = await requireRecord(resource, context, id)
      print(command, record, [...describeRecord(record), ...clockNotes(resource, context)])
    })
}

/** The record with this id. @throws CommandFailure if there is none */
export async function requireRecord<Wire>(
  resource: ResourceCommands<Wire>,
  context: ClinicContext,
  id: string,
): Promise<object> {
  const record = isUuid(id) ? await resource.show(context, id.toLowerCase()) : null
  if (record) return record
  throw unknownRecord(resource.group, resource.noun, id)
}
