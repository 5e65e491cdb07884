/** Restores the records of one clinic under the clinic's pause, and lets every copy of its lists start again. */
import type { Clinic, ClinicId, ClinicRestore } from '../../../domain/clinic.ts'
import { waitForPause } from '../../../store/clinic-pause.ts'
import { clinicStore } from '../../../store/clinics.ts'
import { clinicRestoreKey } from '../../../store/keys/operator.ts'
import type { Table } from '../../../store/table/table.ts'
import { VISIBILITY_DELAY_MS } from '../../../store/table/visibility-delay.ts'
import { pagesOf } from '../../walk/sources.ts'
import { type WalkOptions, walk } from '../../walk/walk.ts'
import { endHolds } from '../holds.ts'
import { pauseForRestore, resumeAfterRestore } from '../restore-pause.ts'
import type { ClinicTables } from './comparison.ts'
import { type PlanOptions, planRestore, type RestorePlan } from './plan.ts'
import { putBack } from './put-back.ts'

export type RestoreOptions = PlanOptions & {
  readonly removable: ReadonlySet<string>
  /** The name of the copy. */
  readonly from: string
  readonly sleep: (ms: number) => Promise<unknown>
  readonly onProgress?: (text: string) => void
  readonly onWait?: WalkOptions['onWait']
}

/** A restore of the clinic with another time or copy has to be completed first. */
export class OtherRestore extends Error {
  readonly other: { readonly to: string; readonly from: string }
  constructor(other: OtherRestore['other']) {
    super(`a restore of the clinic to ${other.to} is not complete`)
    this.other = other
  }
}

/**
 * Puts back what the plan of the paused clinic says, which can differ from the one that was confirmed. After an interruption, the
 * clinic stays paused until a run with the same time and copy completes the restore.
 * @throws CopyIsNewer; OtherRestore; UnfinishedErasure; StillInUse; WalkTaken if another process restores the clinic
 */
export async function restoreClinic(
  tables: ClinicTables,
  clinic: ClinicId,
  { from, sleep, onProgress = () => {}, onWait, ...options }: RestoreOptions,
): Promise<RestorePlan> {
  const { table } = tables
  let plan: RestorePlan | undefined

  const wait = (ms: number, what: string) => {
    onProgress(`Waiting ${Math.ceil(ms / 1000)} s for ${what}`)
    return sleep(ms)
  }

  async function restore(): Promise<void> {
    const paused = await begin(table, clinic, { to: options.to, from })
    onProgress('The clinic is paused: its records are only read')
    await waitForPause(table, paused, (ms) => wait(ms, 'writes that had begun before'))
    await endHolds(table, clinic)
    plan = await planRestore(tables, clinic, options)
    onProgress(`Putting back ${plan.changed.length} records and removing ${plan.removed.length}`)
    await putBack(tables, clinic, plan)
    const endedAt = new Date(table.now()).toISOString()
    onProgress('The records are put back')
    // Lists of changes end this long before now: after the pause, none ends within the restore.
    await wait(VISIBILITY_DELAY_MS, 'the lists of changes to contain them')
    await end(table, clinic, { to: options.to, endedAt })
  }

  // A walk of one page: its lease excludes other processes.
  await walk(
    table,
    pagesOf(['restore']),
    {
      progress: clinicRestoreKey(clinic),
      visit: () => restore().then(() => ({})),
      finish: async () => {},
    },
    { onWait, restart: true },
  )
  return plan as RestorePlan
}

/** @throws OtherRestore if one with another time or copy is in progress, or was stopped */
export function requireSameRestore({ restoring }: Clinic, { to, from }: { to: string; from: string }): void {
  if (restoring && (restoring.to !== to || restoring.from !== from)) throw new OtherRestore(restoring)
}

/** Records that a restore is in progress, and pauses the clinic. */
async function begin(table: Table, id: ClinicId, restore: { to: string; from: string }): Promise<Clinic> {
  const before = await clinicStore({ table }).requireNotDeleting(id)
  requireSameRestore(before, restore)
  const wasPaused = before.restoring?.wasPaused ?? before.pausedAt !== undefined
  const isBegun = before.restoring !== undefined
  return pauseForRestore(table, before, { isBegun, state: { restoring: { ...restore, wasPaused } } })
}

/** Ends the restore and, unless an operator had paused the clinic before, the pause. */
async function end(table: Table, id: ClinicId, restore: ClinicRestore): Promise<void> {
  const clinic = await clinicStore({ table }).requireNotDeleting(id)
  const { restores = [], restoring } = clinic
  await resumeAfterRestore(table, clinic, {
    wasPaused: restoring?.wasPaused ?? false,
    state: { restores: [...restores, restore], restoring: null },
  })
}
