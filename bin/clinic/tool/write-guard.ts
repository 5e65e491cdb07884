import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { withRequestSignal } from '../../../shared/store/table/request-signal.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { MAX_TRANSACTION_MS } from '../../../shared/store/table/visibility-delay.ts'

/**
 * How long a clinic is not read again after a read that found no deletion of it. With the time that a write may take, it is less than
 * a deletion waits before it looks for the items of its clinic (clinic-removal.ts).
 */
const VALID_MS = 1000

/** By table: chooses the clinic whose deletion ends the writes. */
const guards = new WeakMap<Table, (clinic: ClinicId) => void>()

/**
 * Wraps a table so that its writes are rejected once the deletion of the command's clinic has begun: a command may be confirmed, and
 * write, long after it has read the clinic. Each write then throws ClinicBeingDeleted.
 */
export function withDeletionGuard(table: Table): Table {
  const { requireNotDeleting } = clinicStore({ table })
  let clinic: ClinicId | undefined
  let validUntil = Number.NEGATIVE_INFINITY

  const guardWrite =
    <Args extends unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (clinic === undefined) return write(...args)
      const now = performance.now()
      if (now >= validUntil) {
        await requireNotDeleting(clinic)
        validUntil = now + VALID_MS
      }
      // Nothing is sent later, however often it is repeated.
      return withRequestSignal(AbortSignal.timeout(MAX_TRANSACTION_MS), () => write(...args))
    }

  // Deletions are not guarded: they leave nothing of the clinic.
  const guarded: Table = {
    ...table,
    update: guardWrite(table.update),
    putMany: guardWrite(table.putMany),
    transact: guardWrite(table.transact),
    tryTransact: guardWrite(table.tryTransact),
  }
  guards.set(guarded, (next) => {
    clinic = next
    validUntil = Number.NEGATIVE_INFINITY
  })
  return guarded
}

/** From now on, the deletion of this clinic ends the writes to the table, if it has a guard. */
export const guardAgainstDeletion = (table: Table, clinic: ClinicId): void => guards.get(table)?.(clinic)
