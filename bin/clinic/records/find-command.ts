import type { Command } from 'commander'
import { isUuid } from '../../../shared/domain/uuid.ts'
import type { ImportedKind } from '../../../shared/store/external-ids/derive.ts'
import { findRecordId } from '../../../shared/store/external-ids/links.ts'
import { ExternalRef } from '../import/external-ids/resolve-references.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { CommandFailure, parseOption, print } from '../tool/output.ts'
import { clockNotes, recordTable } from './record-text.ts'
import type { ResourceCommands } from './resource-commands.ts'
import { describeFound, requireRecord } from './show-command.ts'

/** Adds `find`. */
export function addResourceFind<Wire extends { readonly id: string }>(
  group: Command,
  resource: ResourceCommands<Wire>,
): void {
  const find = group
    .command('find')
    .description(`find ${resource.plural}`)
    .argument('[text]', `${resource.searched}, or the id`)
  if (resource.imported) find.option('--external-id <id>', "id in the clinic's own system")
  find.action(async (text: string | undefined, given: { externalId?: string }, command: Command) => {
    const { externalId } = given
    if ((text === undefined) === (externalId === undefined))
      throw new CommandFailure(
        resource.imported ? 'Specify either a text or --external-id.' : 'Specify a text to find.',
      )
    const context = await openClinic(command)
    if (externalId !== undefined || isUuid(text ?? '')) {
      const record =
        externalId === undefined
          ? await requireRecord(resource, context, text ?? '')
          : await requireImported(resource, context, externalId)
      const described = await describeFound(resource, context, record)
      print(command, { data: [described.record] }, described.lines)
      return
    }
    const { data, leftOut = 0, notes = [] } = await resource.find(context, text ?? '')
    if (data.length === 0)
      throw new CommandFailure(
        `The clinic has no such ${resource.noun}. "${resource.group} find" compares ${resource.searched}.`,
      )
    print(command, { data, left_out: leftOut }, [
      ...recordTable(resource, data),
      ...clockNotes(resource, context),
      ...notes,
    ])
  })
}

async function requireImported<Wire>(
  { imported, show, noun }: ResourceCommands<Wire>,
  context: ClinicContext,
  externalId: string,
): Promise<Wire> {
  const external = parseOption('external-id', ExternalRef, externalId)
  const { table, clinic } = context
  const record = await show(context, await findRecordId(table, clinic.id, imported as ImportedKind, external))
  if (record) return record
  throw new CommandFailure(
    `The clinic has no ${noun} with this id in its own system. It is compared exactly, with zeros and spaces.`,
  )
}
