/** The command that confirms the external ids of all records of a file. */
import type { Command } from 'commander'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { isLinkable, LINKABLE, type LinkableKind } from '../../../shared/store/external-ids/links.ts'
import { provenanceOfItem } from '../../../shared/store/external-ids/provenance.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { importEntities } from '../../../shared/sync/entities/entities.ts'
import { parseOwnId } from '../../../shared/sync/external-ids/resolve-references.ts'
import { inChunks } from '../../../shared/sync/external-ids/resolve-rows.ts'
import { addReadingOptions, type FileOptions, type IdOfRow, idsOfFile } from '../export/export-ids.ts'
import { onFiles, requireFile } from '../import/files/import-paths.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { openClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { CommandFailure, changeLine, counted, NeedsAttention, print } from '../tool/output.ts'
import { changeLink, link } from './record-links.ts'

/** The entities whose external ids the API can set. */
const ENTITIES = ['patients', 'appointments']

export function addLinkFileCommand(command: Command): void {
  command
    .argument('<file>', 'a file of patients or appointments; rows that cannot be read are left out')
    .option('--entity <name>', `${ENTITIES.join(' or ')}, if the name of the file does not start with it`)
    .action(onFiles(linkFile))
  addYesOption(addReadingOptions(command))
}

async function linkFile(given: string, options: FileOptions, command: Command): Promise<void> {
  const file = resolveFromInvocationDir(given)
  requireFile(file)
  const { table, clinic } = await openClinic(command)
  const entities = importEntities(table, Date.now)
  const unconfirmed: LinkableRow[] = []
  for await (const rows of inChunks(idsOfFile(file, ENTITIES, options, { clinic, entities })))
    unconfirmed.push(...(await findUnconfirmed(table, clinic.id, rows)))
  // Several rows may be about one record.
  const records = new Set(unconfirmed.map(({ id }) => id)).size
  if (records > 0)
    await confirm(command, [
      `The API has set or removed the external ids of ${counted(records, 'record')} of ${file}.`,
      'From now on, imports change these records, and file other records under them.',
    ])
  const linked: { readonly id: string }[] = []
  let rejected = 0
  for (const { kind, id, externalId, line } of unconfirmed)
    try {
      const isNew = await changeLink({ table, clinic: clinic.id }, kind, id, ({ record }) =>
        link(kind, record, externalId),
      )
      if (isNew) linked.push({ id })
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error
      rejected++
      command.configureOutput().writeErr?.(`${file}:${line}: ${error.message}\n`)
    }
  print(command, { linked, rejected }, [
    changeLine(
      linked.length > 0,
      `Linked ${counted(linked.length, 'record')}`,
      `no row${rejected > 0 ? ' could be' : ' needs to be'} confirmed`,
    ),
  ])
  if (rejected > 0) throw new NeedsAttention()
}

type LinkableRow = IdOfRow & { readonly kind: LinkableKind }

/** The rows whose records have external ids that need confirmation. What a row names by its own id needs none. */
async function findUnconfirmed(
  table: Table,
  clinic: ClinicId,
  rows: readonly IdOfRow[],
): Promise<LinkableRow[]> {
  const named = rows.flatMap(({ kind, ...row }) =>
    isLinkable(kind) && parseOwnId(row.externalId) !== row.id ? [{ ...row, kind }] : [],
  )
  const keys = new Map(named.map(({ kind, id }) => [id, LINKABLE[kind](clinic, id)]))
  const items = await table.getMany([...keys.values()])
  const unconfirmed = new Set(
    items.filter((item) => provenanceOfItem(item).isLinkedByApi).map(({ sk }) => sk),
  )
  return named.filter(({ id }) => unconfirmed.has(id))
}
