import type { Command } from 'commander'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { connect, requireClinic } from './connection.ts'

/** The table and the clinic that a command concerns. */
export type Place = { readonly table: Table; readonly clinic: Clinic }

/** The place of a command. @throws CommandFailure for an unknown clinic */
export async function placeOf({ clinic: id }: { readonly clinic: string }, command: Command): Promise<Place> {
  const table = await connect(command)
  return { table, clinic: await requireClinic(table, id) }
}
