import type { ClinicId } from '../domain/clinic.ts'
import { clinicStore } from './clinics.ts'
import type { Table } from './table/table.ts'

/**
 * Clinics that sweeps skip because the operator has paused them. Nothing is written: due items stay, and the first sweep
 * after the pause finds it. A clinic is read once by each run of a sweep.
 */
export function pausedClinics({ table }: { table: Table }) {
  const clinics = clinicStore({ table })

  /** Removes what belongs to paused clinics from each batch. */
  async function* withoutPaused<T extends { readonly clinic: ClinicId }>(
    batches: AsyncIterable<readonly T[]>,
  ): AsyncGenerator<T[]> {
    const isPaused = new Map<ClinicId, boolean>()
    for await (const batch of batches) {
      const unknown = [...new Set(batch.map(({ clinic }) => clinic))].filter((id) => !isPaused.has(id))
      const paused = await clinics.pausedOf(unknown)
      for (const id of unknown) isPaused.set(id, paused.has(id))
      yield batch.filter(({ clinic }) => !isPaused.get(clinic))
    }
  }

  return { withoutPaused }
}
