import { isAbsolute } from 'node:path'
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import { COMMANDS_DURING_RESTORE } from '../../../shared/operator/commands.ts'
import { ClinicBeingDeleted, clinicStore } from '../../../shared/store/clinics.ts'
import { clinicDirectoryKey, clinicKey } from '../../../shared/store/keys/clinics.ts'
import { withScope } from '../../../shared/store/table/request-scope.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { MAX_TRANSACTION_MS } from '../../../shared/store/table/visibility-delay.ts'
import { CommandFailure } from './output.ts'

/**
 * How long a clinic is not read again after a read that allowed writes. With the time that a write may take, it is less than a deletion
 * waits before it looks for the items of its clinic (clinic-removal.ts), and than a restore waits before it reads the clinic's records.
 */
const VALID_MS = 1000

type Guarded = { readonly clinic: ClinicId; readonly command: string }

/** By table: chooses the clinic whose deletion or restore ends the writes. */
const guards = new WeakMap<Table, (next: Guarded) => void>()

/**
 * Wraps a table so that its writes are rejected once the deletion of the command's clinic has begun, or a restore of its records: a command
 * may be confirmed, and write, long after it has read the clinic. Each write then throws ClinicBeingDeleted or CommandFailure.
 */
export function withWriteGuard(table: Table): Table {
  let guarded: Guarded | undefined
  let validUntil = Number.NEGATIVE_INFINITY

  const guardWrite =
    <Args extends unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (guarded === undefined) return write(...args)
      const now = performance.now()
      if (now >= validUntil) {
        const { clinic: id } = guarded
        // Settings that cannot be read, or are missing, are repaired too.
        const item = (await table.get(clinicKey(id))) ?? (await table.get(clinicDirectoryKey(id)))
        if (!item || item.deletingAt !== undefined) throw new ClinicBeingDeleted(id, !item)
        const { replacement, restoring } = item as typeof item & Clinic
        // A leaked key must not wait. The reconciliation is repeated afterwards.
        if (replacement && guarded.command !== 'credential revoke')
          throw new CommandFailure(
            `Clinic ${id} is paused until ${replacement.table} is the table in use. If that restore is given up: restore cancel`,
          )
        if (restoring && !COMMANDS_DURING_RESTORE.includes(guarded.command))
          throw new CommandFailure(
            `Clinic ${id} is being restored to ${restoring.to}. If the restore was stopped, complete it first: restore clinic ${id} --to ${restoring.to} ${fromOption(restoring.from)}`,
          )
        validUntil = now + VALID_MS
      }
      // Nothing is sent later, however often it is repeated.
      return withScope({ signal: AbortSignal.timeout(MAX_TRANSACTION_MS) }, () => write(...args))
    }

  // Deletions are not guarded: they leave nothing of the clinic.
  const wrapped: Table = {
    ...table,
    update: guardWrite(table.update),
    putMany: guardWrite(table.putMany),
    transact: guardWrite(table.transact),
    tryTransact: guardWrite(table.tryTransact),
  }
  guards.set(wrapped, (next) => {
    guarded = next
    validUntil = Number.NEGATIVE_INFINITY
  })
  return wrapped
}

/**
 * From now on, the deletion of this clinic ends the writes to the table, if it has a guard, and so does a restore of its records, unless
 * the command may write during one.
 */
export const guardWrites = (table: Table, clinic: ClinicId, command: string): void =>
  guards.get(table)?.({ clinic, command })

/**
 * For commands that concern more than the writes to a clinic: the table that is to replace this one would not have what they do.
 * @throws CommandFailure while the clinics are paused for a restore of the table
 */
export async function requireNoReplacement(table: Table): Promise<void> {
  const { clinics } = await clinicStore({ table }).listReadable()
  const replacement = clinics.find((clinic) => clinic.replacement)?.replacement
  if (replacement) throw pausedUntil(replacement.table)
}

/** The failure of a command that has to wait until another table is used. */
export const pausedUntil = (table: string): CommandFailure =>
  new CommandFailure(
    `The clinics are paused until ${table} is the table in use. If that restore is given up: restore cancel`,
  )

/** The option of `restore clinic` that names a copy: a table, or the path of a data folder. */
export const fromOption = (copy: string): string => `${isAbsolute(copy) ? '--from-data' : '--from'} ${copy}`
