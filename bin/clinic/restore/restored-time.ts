/** The time that is restored, the table that is restored to it, and why it cannot be. */
import * as z from 'zod'
import { UnfinishedErasure, UnknownClinic } from '../../../shared/maintenance/restore/reconcile.ts'
import { NotPaused, OtherReplacement } from '../../../shared/maintenance/restore/restore-pause.ts'
import { TableNameTaken } from '../../../shared/maintenance/restore/restored-table.ts'
import { CommandFailure } from '../tool/output.ts'
import { pausedUntil } from '../tool/write-guard.ts'

/** An instant before now. To be parsed after the stack is connected, which may have a clock of its own. */
export const PastInstant = z.iso
  .datetime({ offset: true, error: 'must be a time with its zone, such as 2026-11-22T10:00:00Z' })
  .transform((text) => new Date(text))
  .refine((at) => at.getTime() < Date.now(), { error: 'must be in the past' })

/** The name of the copy of a time, unless another is given. */
export const restoredName = (source: string, at: Date): string =>
  `${source}-${at.toISOString().replace(/\D/g, '').slice(0, 14)}`

export function explainRejection(error: Error): never {
  if (error instanceof TableNameTaken) throw new CommandFailure(error.message)
  if (error instanceof UnfinishedErasure)
    throw new CommandFailure(
      `An erasure was interrupted. Complete it first: patient erase ${error.patient} --clinic ${error.clinic}. ` +
        'If the clinics are paused for this restore, end the pause before: restore cancel',
    )
  if (error instanceof UnknownClinic && error.wasDeleted)
    throw new CommandFailure(
      `Clinic ${error.clinic} was deleted after the restored time. Delete it from the restored table first: ` +
        `clinic delete --clinic ${error.clinic} --table NAME --without-export`,
    )
  if (error instanceof UnknownClinic)
    throw new CommandFailure(
      `The table in use does not have clinic ${error.clinic}: is it the one that was restored? If it was lost, use --source-lost.`,
    )
  if (error instanceof OtherReplacement) throw pausedUntil(error.table)
  if (error instanceof NotPaused)
    throw new CommandFailure(
      'A clinic was created or resumed, or a credential revoked, since. Run the command again.',
    )
  throw error
}
