import type { ClinicId } from '../domain/clinic.ts'
import { UnavailableError } from '../domain/unavailable.ts'
import { Changeset } from './changeset.ts'
import { ConditionFailed, type Table } from './table.ts'

/** Changes that belong together, and how to make them anew from fresh reads; null when nothing is left to do. */
export type Unit = {
  readonly changes: Changeset
  readonly rebuild: () => Promise<Changeset | null>
}

/** Somebody else was faster so many times in a row. */
const ATTEMPTS = 10

/** Commits units in as few transactions as hold them, each unit whole. */
export async function commitPacked(table: Table, clinic: ClinicId, units: readonly Unit[]): Promise<void> {
  let pack = new Changeset(table, clinic)
  let packed: Unit[] = []
  const flush = async () => {
    try {
      await pack.commit()
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      // One of them is out of date: each on its own finds out which.
      for (const { rebuild } of packed) await commitFresh(rebuild)
    }
    pack = new Changeset(table, clinic)
    packed = []
  }
  for (const unit of units) {
    if (!pack.absorb(unit.changes)) {
      await flush()
      if (!pack.absorb(unit.changes)) throw new RangeError('a unit is larger than a transaction')
    }
    packed.push(unit)
  }
  await flush()
}

/** Commits what `build` makes of fresh reads, again when it was out of date by then. */
export async function commitFresh(build: () => Promise<Changeset | null>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const changes = await build()
    if (!changes) return
    try {
      return await changes.commit()
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      if (attempt === ATTEMPTS) throw new UnavailableError(error)
    }
  }
}
