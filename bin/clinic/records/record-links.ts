/** The commands that link records to their ids in the clinic's own system. */
import type { Command } from 'commander'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { readImportKeys } from '../../../shared/store/external-ids/derive.ts'
import {
  type LinkableRecord,
  linkRecord,
  unlinkRecord,
} from '../../../shared/store/external-ids/manual-links.ts'
import { doctorKey } from '../../../shared/store/keys/clinics.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import { retryOnConflict } from '../../../shared/store/table/retry-on-conflict.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { ExternalRef } from '../import/external-ids/resolve-references.ts'
import { openClinic } from '../tool/connection.ts'
import { CommandFailure, parseOption, print } from '../tool/output.ts'

type Kind = 'doctor' | 'patient'

type LinkOptions = { clinic: string; externalId: string }

/** Adds `link` and `unlink` to the commands of a kind of records. */
export function addLinkCommands(group: Command, kind: Kind): void {
  group
    .command('link')
    .description(
      `give a ${kind} whom no import made an id of your own system, so that imported files find the ${kind}`,
    )
    .argument(`<${kind}>`, `${kind} id`)
    .requiredOption('--clinic <id>')
    .requiredOption('--external-id <id>', 'id in your own system')
    .action(async (id: string, given: LinkOptions, command: Command) => {
      const externalId = parseOption('external-id', ExternalRef, given.externalId)
      await changeLink(kind, id, given, command, async ({ table, clinic, keys, record }) => {
        if (record.externalId === externalId) return `The ${kind} has this external id already`
        if (record.externalId !== undefined)
          throw new CommandFailure(
            `The ${kind} has another external id. Run "${kind} unlink" first, if it was linked.`,
          )
        const derived = keys.derivedIdOf(kind, externalId)
        const known = keys.idOf(kind, externalId)
        if (await find(table, clinic, kind, known))
          throw new CommandFailure(
            `The external id belongs to ${kind} ${known}. An external id belongs to one record only.`,
          )
        await linkRecord(table, clinic, record, externalId, {
          id: derived,
          key: KINDS[kind].key(clinic, derived),
        })
        return `Linked ${kind} ${record.id}`
      })
    })

  group
    .command('unlink')
    .description(`remove the link of a ${kind}; imported files no longer find the ${kind} by the external id`)
    .argument(`<${kind}>`, `${kind} id`)
    .requiredOption('--clinic <id>')
    .action(async (id: string, given: LinkOptions, command: Command) => {
      await changeLink(kind, id, given, command, async ({ table, clinic, keys, record }) => {
        const { externalId } = record
        if (externalId === undefined) throw new CommandFailure(`The ${kind} has no external id.`)
        const derived = keys.derivedIdOf(kind, externalId)
        if (derived === record.id)
          throw new CommandFailure(
            `The ${kind} was made by an import: its id follows from the external id, and stays.`,
          )
        await unlinkRecord(table, clinic, record, derived)
        return `Unlinked ${kind} ${record.id}`
      })
    })
}

const KINDS = {
  doctor: {
    key: doctorKey,
    find: (table: Table, clinic: ClinicId, id: string) => doctorStore({ table }).find(clinic, id),
  },
  patient: {
    key: patientKey,
    find: async (table: Table, clinic: ClinicId, id: string) =>
      (await patientStore({ table }).findMany(clinic, [id])).get(id) ?? null,
  },
} as const

type FoundRecord = LinkableRecord & { readonly isErased: boolean }

async function find(table: Table, clinic: ClinicId, kind: Kind, id: string): Promise<FoundRecord | null> {
  const found = await KINDS[kind].find(table, clinic, id)
  if (!found) return null
  const { externalId, imported, version } = found
  return {
    id,
    key: KINDS[kind].key(clinic, id),
    version,
    isErased: 'erasedAt' in found && found.erasedAt !== null,
    ...(externalId !== undefined && { externalId }),
    ...(imported !== undefined && { imported }),
  }
}

type LinkState = {
  readonly table: Table
  readonly clinic: ClinicId
  readonly keys: Awaited<ReturnType<typeof readImportKeys>>
  readonly record: LinkableRecord
}

/** Reads a record and the clinic's links, again if either changes, and prints what `change` did. */
async function changeLink(
  kind: Kind,
  id: string,
  { clinic: clinicId }: LinkOptions,
  command: Command,
  change: (state: LinkState) => Promise<string>,
): Promise<void> {
  const { table, clinic } = await openClinic({ clinic: clinicId }, command)
  const text = await retryOnConflict(async () => {
    const keys = await readImportKeys(table, clinic.id)
    const record = await find(table, clinic.id, kind, id.toLowerCase())
    if (!record) throw new CommandFailure(`The clinic has no ${kind} ${id}. Run "${kind} list" to see all.`)
    if (record.isErased) throw new CommandFailure('The patient was erased.')
    return change({ table, clinic: clinic.id, keys, record })
  })
  print(command, { id: id.toLowerCase() }, [text])
}
