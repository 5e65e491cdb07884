/** The command that confirms the external ids of all records of a file. */
import type { Command } from 'commander'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { isAnotherPerson } from '../../../shared/domain/patients/another-person.ts'
import { isLinkable, LINKABLE, type LinkableKind } from '../../../shared/store/external-ids/links.ts'
import { provenanceOfItem } from '../../../shared/store/external-ids/provenance.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
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
  let rejected = 0
  const reject = (line: number, reason: string) => {
    rejected++
    command.configureOutput().writeErr?.(`${file}:${line}: ${reason}\n`)
  }
  for await (const rows of inChunks(idsOfFile(file, ENTITIES, options, { clinic, entities })))
    for (const { isOther, ...row } of await findUnconfirmed(table, clinic.id, rows))
      if (isOther) reject(row.line, `${row.kind} ${row.id} is another person`)
      else unconfirmed.push(row)
  // Several rows may be about one record.
  const records = new Set(unconfirmed.map(({ id }) => id)).size
  if (records > 0)
    await confirm(command, [
      `The API has set or removed the external ids of ${counted(records, 'record')} of ${file}.`,
      'From now on, imports change these records, and file other records under them.',
    ])
  const linked: { readonly id: string }[] = []
  for (const { kind, id, externalId, line } of unconfirmed)
    try {
      const isNew = await changeLink({ table, clinic: clinic.id }, kind, id, ({ record }) =>
        link(kind, record, externalId),
      )
      if (isNew) linked.push({ id })
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error
      reject(line, error.message)
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

type LinkableRow = Omit<IdOfRow, 'fields'> & { readonly kind: LinkableKind }

/**
 * The rows whose records have external ids that need confirmation, and whether their patient is another person. What a row names by its
 * own id needs none.
 */
async function findUnconfirmed(
  table: Table,
  clinic: ClinicId,
  rows: readonly IdOfRow[],
): Promise<(LinkableRow & { readonly isOther: boolean })[]> {
  const named = rows.flatMap(({ kind, ...row }) =>
    isLinkable(kind) && parseOwnId(row.externalId) !== row.id ? [{ ...row, kind }] : [],
  )
  const keys = new Map(named.map(({ kind, id }) => [id, LINKABLE[kind](clinic, id)]))
  const items = await table.getMany([...keys.values()])
  const unconfirmed = new Set(
    items.filter((item) => provenanceOfItem(item).isLinkedByApi).map(({ sk }) => sk),
  )
  const ids = named.flatMap(({ kind, id }) => (kind === 'patient' && unconfirmed.has(id) ? [id] : []))
  const patients = await patientStore({ table }).findMany(clinic, [...new Set(ids)])
  return named
    .filter(({ id }) => unconfirmed.has(id))
    .map(({ fields, ...row }) => {
      const patient = patients.get(row.id)
      return { ...row, isOther: patient !== undefined && isAnotherPerson(patient, personOf(fields)) === true }
    })
}

/** The person of a row of patients. */
function personOf({ first_name, last_name, date_of_birth }: IdOfRow['fields']) {
  const text = (value: unknown) => (typeof value === 'string' ? value.trim() : '')
  return { firstName: text(first_name), lastName: text(last_name), dateOfBirth: text(date_of_birth) || null }
}
