/** The commands that link records to their ids in the clinic's own system. */
import type { Command } from 'commander'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { externalIds, type LinkableKind } from '../../../shared/store/external-ids/links.ts'
import { ExternalIdTaken } from '../../../shared/store/table/errors.ts'
import { retryOnConflict } from '../../../shared/store/table/retries.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { findLinkable, type LinkableRecord } from '../../../shared/sync/external-ids/record-links.ts'
import { ExternalRef } from '../../../shared/sync/external-ids/resolve-references.ts'
import { openClinic } from '../tool/connection.ts'
import { requireRecord } from '../tool/known-record.ts'
import { CommandFailure, parseOption, print } from '../tool/output.ts'

/** Adds `link` and `unlink` to the commands of a kind of records. */
export function addLinkCommands(group: Command, kind: LinkableKind): void {
  group
    .command('link')
    .description(
      `set the external id of ${article(kind)} ${kind} that was not imported, so that imported files find the ${kind}; or confirm one that the API has set`,
    )
    .argument(`<${kind}>`, `${kind} id`)
    .requiredOption('--external-id <id>', 'id in your own system')
    .action(async (id: string, given: { externalId: string }, command: Command) => {
      const externalId = parseOption('external-id', ExternalRef, given.externalId)
      await printChange(kind, id, command, async ({ record }) =>
        (await link(kind, record, externalId))
          ? `Linked ${kind} ${record.id}`
          : `Nothing changed: the ${kind} has this external id already`,
      )
    })

  group
    .command('unlink')
    .description(
      `remove the link of ${article(kind)} ${kind}; imported files no longer find the ${kind} by the external id`,
    )
    .argument(`<${kind}>`, `${kind} id`)
    .action(async (id: string, _: object, command: Command) => {
      await printChange(kind, id, command, async ({ table, clinic, record }) => {
        if (record.externalId == null) return `Nothing changed: the ${kind} has no external id`
        if (!(await externalIds({ table }).linkOf(clinic, kind, record)))
          throw new CommandFailure(
            `The ${kind} was made by an import: its id follows from the external id, and stays.`,
          )
        await record.save({})
        return `Unlinked ${kind} ${record.id}`
      })
    })
}

/** Sets the external id of a record, or confirms it. Returns whether anything changed. @throws CommandFailure; ExternalIdTaken */
export async function link(kind: LinkableKind, record: LinkableRecord, externalId: string): Promise<boolean> {
  const { imported } = record
  if (record.externalId === externalId && !record.isLinkedByApi) return false
  if (record.externalId != null && record.externalId !== externalId)
    throw new CommandFailure(
      `The ${kind} has another external id. Run "${kind} unlink" first, if it was linked.`,
    )
  await record.save({ externalId, ...(imported !== undefined && { imported }) })
  return true
}

const article = (kind: LinkableKind): string => (kind === 'appointment' ? 'an' : 'a')

type ClinicTable = { readonly table: Table; readonly clinic: ClinicId }

type LinkState = ClinicTable & { readonly record: LinkableRecord }

/** Reads a record and changes it, again if it was changed at the same time. @throws CommandFailure */
export async function changeLink<T>(
  { table, clinic }: ClinicTable,
  kind: LinkableKind,
  id: string,
  change: (state: LinkState) => Promise<T>,
): Promise<T> {
  return retryOnConflict(async () => {
    const record = await requireRecord(kind, id, (known) => findLinkable[kind](table, clinic, known))
    if (record.isErased) throw new CommandFailure('The patient was erased.')
    return change({ table, clinic, record })
  }).catch((error: unknown) => {
    if (!(error instanceof ExternalIdTaken)) throw error
    throw new CommandFailure(
      `The external id belongs to ${kind} ${error.record}. An external id belongs to one record only.`,
    )
  })
}

/** Changes a record, and prints what `change` did. */
async function printChange(
  kind: LinkableKind,
  id: string,
  command: Command,
  change: (state: LinkState) => Promise<string>,
): Promise<void> {
  const { table, clinic } = await openClinic(command)
  const text = await changeLink({ table, clinic: clinic.id }, kind, id, change)
  print(command, { id: id.toLowerCase() }, [text])
}
