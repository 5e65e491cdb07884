import type { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'
import { inactivePatients } from './inactive-patients.ts'
import { nationalIds } from './national-ids.ts'
import type { StoredPatient } from './patients.ts'

/** What finds patients beside their list and search: their national ids, and who is inactive. */
export function patientIndexes({ table }: { table: Table }) {
  const identified = nationalIds({ table })
  const inactive = inactivePatients({ table })

  /** Adds what changes with some patients to their transaction. `before` is null for a new patient. */
  async function move(
    changes: Changeset,
    moves: readonly { readonly before: StoredPatient | null; readonly after: StoredPatient }[],
  ): Promise<void> {
    for (const { before, after } of moves) await identified.move(changes, before, after)
    const turned = moves.filter(({ before, after }) => (before?.isActive ?? true) !== after.isActive)
    await inactive.move(
      changes,
      turned.map(({ after }) => after),
    )
  }

  return { move }
}
