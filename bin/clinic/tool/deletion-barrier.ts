import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { withRequestSignal } from '../../../shared/store/table/request-signal.ts'
import { MAX_TRANSACTION_MS } from '../../../shared/store/table/stamp-delay.ts'
import type { Table } from '../../../shared/store/table/table.ts'

/**
 * How long a clinic is not read again after it was found not to be leaving. With the time that a write may take, it is less than
 * a deletion waits before it looks for the items of its clinic (clinic-removal.ts).
 */
const VALID_MS = 1000

/** By table: chooses the clinic whose deletion ends the writes. */
const barriers = new WeakMap<Table, (clinic: ClinicId) => void>()

/**
 * The same table, whose writes are refused once the deletion of the command's clinic has begun: a command may be confirmed, and
 * write, long after it has read the clinic. Each write throws ClinicLeaving then.
 */
export function withDeletionBarrier(table: Table): Table {
  const { requireStaying } = clinicStore({ table })
  let clinic: ClinicId | undefined
  let validUntil = Number.NEGATIVE_INFINITY

  const guarded =
    <Args extends unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (clinic === undefined) return write(...args)
      const now = performance.now()
      if (now >= validUntil) {
        await requireStaying(clinic)
        validUntil = now + VALID_MS
      }
      // Nothing is sent later, however often it is repeated.
      return withRequestSignal(AbortSignal.timeout(MAX_TRANSACTION_MS), () => write(...args))
    }

  // Not what only deletes: that leaves nothing of the clinic.
  const barred: Table = {
    ...table,
    update: guarded(table.update),
    putMany: guarded(table.putMany),
    transact: guarded(table.transact),
    tryTransact: guarded(table.tryTransact),
  }
  barriers.set(barred, (next) => {
    clinic = next
    validUntil = Number.NEGATIVE_INFINITY
  })
  return barred
}

/** From now on, the deletion of this clinic ends the writes to the table, if it has a barrier. */
export const barDeletionOf = (table: Table, clinic: ClinicId): void => barriers.get(table)?.(clinic)
