/** The clinic that a command concerns: from `--clinic`, or the environment's `CLINIC`. */
import type { Command } from 'commander'
import { type ClinicId, clinicIdOf } from '../../../shared/domain/clinic.ts'
import { fold } from '../../../shared/domain/patients/search-text.ts'
import { isUuid } from '../../../shared/domain/uuid.ts'
import { UNREADABLE_SETTINGS } from '../../../shared/maintenance/verify/verify-clinics.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { CommandFailure, formatTable } from './output.ts'

/** The shortest start of an id, so that a short name with a typing error selects no clinic. */
const MIN_PREFIX = 4

/** The clinic as it was named. @throws CommandFailure without one */
export function namedClinic(command: Command): string {
  const { clinic } = command.opts<{ clinic?: string }>()
  if (clinic) return clinic
  throw new CommandFailure('Specify the clinic with --clinic, or in CLINIC.')
}

/** Where the clinic comes from if the command line does not say it, for errors. */
export const clinicSource = (command: Command): string =>
  command.getOptionValueSource('clinic') === 'cli' ? '' : ' of CLINIC'

export const unknownClinic = (text: string, source: string): CommandFailure =>
  new CommandFailure(`Clinic ${text}${source} does not exist. Run "clinic list" to see all clinics.`)

/** The id of the clinic with this id, name or start of an id. @throws CommandFailure for none, or for several */
export async function findClinic(table: Table, text: string, source = ''): Promise<ClinicId> {
  const lower = text.toLowerCase()
  if (isUuid(lower)) return clinicIdOf(lower)
  const { clinics, unreadable } = await clinicStore({ table }).listReadable()
  const named = clinics.filter(({ name }) => fold(name) === fold(text))
  const all = [...clinics, ...unreadable.map((id) => ({ id, name: UNREADABLE_SETTINGS }))]
  const found =
    named.length > 0 || text.length < MIN_PREFIX ? named : all.filter(({ id }) => id.startsWith(lower))
  const [only, ...others] = found
  if (!only) throw unknownClinic(text, source)
  if (others.length === 0) return only.id
  throw new CommandFailure(
    [
      `${found.length} clinics match ${text}${source}. Specify the id of one:`,
      ...formatTable(found.map(({ id, name }) => [id, name])),
    ].join('\n'),
  )
}
