import type { Command } from 'commander'
import { isUuid } from '../../../shared/domain/uuid.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { print } from '../tool/output.ts'
import { unknownRecord } from './change-record.ts'
import type { RecordKind } from './record-kind.ts'
import { clockNotes, describeRecord } from './record-text.ts'

type Given = { readonly clinic: string }

/** Adds `show`. */
export function addShowCommand<Wire>(group: Command, kind: RecordKind<Wire>): void {
  group
    .command('show')
    .description(`show one ${kind.noun}`)
    .argument('<id>', `id of the ${kind.noun}`)
    .requiredOption('--clinic <id>')
    .action(async (id: string, given: Given, command: Command) => {
      const context = await openClinic(given, command)
      const record = await requireRecord(kind, context, id)
      print(command, record, [...describeRecord(record), ...clockNotes(kind, context)])
    })
}

/** The record with this id. @throws CommandFailure if there is none */
export async function requireRecord<Wire>(
  kind: RecordKind<Wire>,
  context: ClinicContext,
  id: string,
): Promise<object> {
  const record = isUuid(id) ? await kind.show(context, id.toLowerCase()) : null
  if (record) return record
  throw unknownRecord(kind.group, kind.noun, id)
}
