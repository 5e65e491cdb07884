import { type Clinic, type ClinicId, clinicIdOf } from '../../domain/clinic.ts'
import { ClinicBeingDeleted, clinicStore } from '../../store/clinics.ts'
import type { Key } from '../../store/keys/key.ts'
import type { Table } from '../../store/table/table.ts'
import { UnreadableRecord } from '../../store/table/unreadable-record.ts'
import { clinicsOf } from '../walk/sources.ts'
import { type WalkOptions, walk } from '../walk/walk.ts'

export type VerifiedClinic = Pick<Clinic, 'id' | 'name' | 'deletingAt'>

/** Over all processes, if others were stopped: differences that are not repaired, and clinics that could not be verified. */
export type Verified = { readonly remaining: number; readonly failed: number }

type VerifyClinicsOptions = WalkOptions & {
  /** Where the progress is stored, in a table without a guard that rejects writes while a clinic is being deleted. */
  readonly progress: { readonly table: Table; readonly key: Key }
  /** Identifies the verification. Progress of another one is not continued. */
  readonly subject?: string
  /** Clinics that are verified at a time; one, in the order of their ids, if not set. */
  readonly segments?: number
  readonly onClinicFailed?: (id: ClinicId, error: Error) => unknown
}

/**
 * Verifies every clinic. One that cannot be verified does not stop the others.
 * @param verify returns the number of differences that are not repaired
 */
export async function verifyClinics(
  table: Table,
  { progress, subject, segments = 1, onClinicFailed, ...options }: VerifyClinicsOptions,
  verify: (clinic: VerifiedClinic) => Promise<number>,
): Promise<Verified> {
  const clinics = clinicStore({ table })
  const { ids } = await clinics.directory()
  return walk(
    progress.table,
    clinicsOf(ids, segments),
    {
      progress: progress.key,
      ...(subject !== undefined && { subject }),
      visit: async ([id]) => {
        const clinic = await readableClinic(id, () => clinics.findListed(id))
        // Half of a clinic that is being deleted is missing.
        if (clinic === null || clinic.deletingAt !== undefined) return { remaining: 0, failed: 0 }
        return { remaining: await verify(clinic), failed: 0 }
      },
      onFailed: async ([id], error) => {
        if (error instanceof ClinicBeingDeleted) return { remaining: 0, failed: 0 }
        await onClinicFailed?.(id, error)
        return { remaining: 0, failed: 1 }
      },
      finish: async ({ counts: { remaining = 0, failed = 0 } }) => ({ remaining, failed }),
    },
    options,
  )
}

/** The name of a clinic whose settings have no name that can be read. */
export const UNREADABLE_SETTINGS = 'settings that cannot be read'

/** A clinic whose settings cannot be read is verified too, which reports them. */
export async function readableClinic<C>(id: string, read: () => Promise<C>): Promise<C | VerifiedClinic> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error
    return { id: clinicIdOf(id.toLowerCase()), name: UNREADABLE_SETTINGS }
  }
}
