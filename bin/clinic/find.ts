import type { Command } from 'commander'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { ImportedKind } from '../../shared/store/external-ids/derive.ts'
import { findRecordId } from '../../shared/store/external-ids/links.ts'
import { type Provenance, provenanceOfItem } from '../../shared/store/external-ids/provenance.ts'
import { holidayStore, presentImports } from '../../shared/store/holidays.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { importEntities } from './import/entities/entities.ts'
import { ExternalRef } from './import/external-ids/resolve-references.ts'
import { RECORD_KEYS } from './import/external-ids/resolve-rows.ts'
import { openClinic } from './tool/connection.ts'
import { CommandFailure, parseOption, print } from './tool/output.ts'

type FindOptions = { clinic: string; entity: string; externalId?: string; id?: string }

export function addGlobalFind(program: Command): void {
  program
    .command('find')
    .description("find an imported record by its id in the clinic's own system, or that id by the record's")
    .requiredOption('--clinic <id>')
    .requiredOption('--entity <name>', 'such as patients, doctors or treatments')
    .option('--external-id <id>', "id in the clinic's own system")
    .option('--id <id>', 'id of the record')
    .action(async (given: FindOptions, command: Command) => {
      const { table, clinic } = await openClinic(given, command)
      const entity = importEntities(table, Date.now).find(({ name }) => name === given.entity)
      if (!entity) throw new CommandFailure(`--entity: unknown entity ${given.entity}`)
      if ((given.externalId === undefined) === (given.id === undefined))
        throw new CommandFailure('Specify either --external-id or --id.')
      const id =
        given.externalId === undefined
          ? (given.id as string).toLowerCase()
          : await findRecordId(
              table,
              clinic.id,
              entity.idKind,
              parseOption('external-id', ExternalRef, given.externalId),
            )
      const found = await findProvenance(table, clinic.id, entity.idKind, id)
      if (!found)
        throw new CommandFailure(
          'The clinic has no such record. "ids" lists the external ids of imported records.',
        )
      const { externalId = null } = found
      print(command, { id, external_id: externalId }, [`${id}  ${externalId ?? 'no external id'}`])
    })
}

/** The origin of an imported record; null if there is no such record. */
async function findProvenance(
  table: Table,
  clinic: ClinicId,
  kind: ImportedKind,
  id: string,
): Promise<Provenance | null> {
  if (kind === 'holiday') return presentImports(await holidayStore({ table }).read(clinic))[id] ?? null
  const item = await table.get(RECORD_KEYS[kind](clinic, id))
  return item ? provenanceOfItem(item) : null
}
