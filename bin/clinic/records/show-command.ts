import type { Command } from 'commander'
import { isUuid } from '../../../shared/domain/uuid.ts'
import { provenanceOfItem } from '../../../shared/store/external-ids/provenance.ts'
import { RECORD_KEYS } from '../import/external-ids/resolve-rows.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { print } from '../tool/output.ts'
import { unknownRecord } from './change-record.ts'
import { clockNotes, describeRecord } from './record-text.ts'
import type { ResourceCommands } from './resource-commands.ts'

/** Adds `show`. */
export function addShowCommand<Wire extends { readonly id: string }>(
  group: Command,
  resource: ResourceCommands<Wire>,
): void {
  group
    .command('show')
    .description(`show one ${resource.noun}`)
    .argument('<id>', `id of the ${resource.noun}`)
    .action(async (id: string, _: object, command: Command) => {
      const context = await openClinic(command)
      const { record, lines } = await describeFound(
        resource,
        context,
        await requireRecord(resource, context, id),
      )
      print(command, record, lines)
    })
}

/** The record with this id. @throws CommandFailure if there is none */
export async function requireRecord<Wire>(
  resource: ResourceCommands<Wire>,
  context: ClinicContext,
  id: string,
): Promise<Wire> {
  const record = isUuid(id) ? await resource.show(context, id.toLowerCase()) : null
  if (record) return record
  throw unknownRecord(resource.group, resource.noun, id)
}

/** A record and its text, with its id in the clinic's own system, which the API does not return for every kind. */
export async function describeFound<Wire extends { readonly id: string }>(
  resource: ResourceCommands<Wire>,
  context: ClinicContext,
  found: Wire,
): Promise<{ readonly record: object; readonly lines: readonly string[] }> {
  const { imported, describe } = resource
  const { table, clinic } = context
  const item = imported && (await table.get(RECORD_KEYS[imported](clinic.id, found.id)))
  const external = imported && { external_id: (item && provenanceOfItem(item).externalId) ?? null }
  const text = describeRecord({ ...(describe?.(found) ?? found), ...external })
  return { record: { ...found, ...external }, lines: [...text, ...clockNotes(resource, context)] }
}
