/** The small lists of a clinic, which are read as a whole: nothing indexes their changes. */
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { SMALL_SOURCES } from './sources.ts'
import type { Staging } from './staging.ts'

/** Readings of lists that change again and again. */
const MAX_READINGS = 5

/** The position once all lists were read. */
const POSITION = 'small lists read'

/** Reads the lists, unless a stopped export has. */
export async function readSmallLists(table: Table, clinic: ClinicId, staging: Staging): Promise<void> {
  if (staging.position(POSITION) !== undefined) return
  await replaceAll(table, clinic, staging)
  staging.put('', [], POSITION, 'end')
}

/** Reads the lists again until they are as they were read before. Returns how many rows were new, different or gone. */
export async function rereadSmallLists(table: Table, clinic: ClinicId, staging: Staging): Promise<number> {
  let total = 0
  for (let reading = 1; reading <= MAX_READINGS; reading++) {
    const changed = await replaceAll(table, clinic, staging)
    total += changed
    if (changed === 0) break
  }
  return total
}

async function replaceAll(table: Table, clinic: ClinicId, staging: Staging): Promise<number> {
  let changed = 0
  for (const { entity, read } of SMALL_SOURCES) changed += staging.replace(entity, await read(table, clinic))
  return changed
}
