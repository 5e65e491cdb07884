import type { ClinicId } from '../../domain/clinic.ts'
import { Changeset } from './changeset.ts'
import { ConditionFailed, WriteConflict } from './errors.ts'
import { mapConcurrent } from './map-concurrent.ts'
import { retryOnConflict } from './retry-on-conflict.ts'
import type { Table } from './table.ts'

/** Changes that are committed together. `rebuild` makes them again from fresh reads; null when nothing is left to do. */
export type Unit = {
  readonly changes: Changeset
  readonly rebuild: () => Promise<Changeset | null>
}

/** Transactions in progress at a time. They wait for the store, and for each other's tallies. */
const MAX_CONCURRENT_TRANSACTIONS = 2

/** Commits units in as few transactions as possible. A unit is never split. */
export async function commitPacked(table: Table, clinic: ClinicId, units: readonly Unit[]): Promise<void> {
  await mapConcurrent(MAX_CONCURRENT_TRANSACTIONS, packUnits(table, clinic, units), commitPack)
}

type Pack = { readonly changes: Changeset; readonly units: Unit[] }

function packUnits(table: Table, clinic: ClinicId, units: readonly Unit[]): Pack[] {
  const packs: Pack[] = []
  for (const unit of units) {
    const last = packs.at(-1)
    if (last?.changes.merge(unit.changes)) {
      last.units.push(unit)
      continue
    }
    const changes = new Changeset(table, clinic)
    if (!changes.merge(unit.changes)) throw new RangeError('a unit is larger than a transaction')
    packs.push({ changes, units: [unit] })
  }
  return packs
}

async function commitPack({ changes, units }: Pack): Promise<void> {
  try {
    await changes.commit()
  } catch (error) {
    if (!(error instanceof ConditionFailed || error instanceof WriteConflict)) throw error
    // One of them is out of date: each on its own finds out which.
    for (const { rebuild } of units) await commitWithRetry(rebuild)
  }
}

/** Commits what `build` makes of fresh reads, again when it was out of date by then. */
export const commitWithRetry = (build: () => Promise<Changeset | null>): Promise<void> =>
  retryOnConflict(async () => (await build())?.commit())
