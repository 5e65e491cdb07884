import type { ClinicId } from '../domain/clinic.ts'
import { clinicKey } from './keys/clinics.ts'
import type { Table } from './table/table.ts'

/** A restored table is to replace this one: nothing may change until then. */
class TableBeingReplaced extends Error {
  override readonly name = 'TableBeingReplaced'
}

/** For workers that also change paused clinics. Apart from the stores, so that their bundles have no time zones. */
export function tableReplacement({ table }: { table: Table }) {
  /** @throws TableBeingReplaced, but perhaps not yet if the replacement began a moment ago */
  async function requireNone(clinic: ClinicId): Promise<void> {
    const item = await table.get(clinicKey(clinic), { eventual: true })
    if (item?.replacement !== undefined)
      throw new TableBeingReplaced('a restored table is to replace this one')
  }

  return { requireNone }
}
