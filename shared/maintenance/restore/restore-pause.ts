/**
 * The pause of a clinic while it is restored; and of all clinics of the table in use, from before a restored table is reconciled until it is
 * used instead. The clinics say so themselves, so no deployment ends the pause but the one that uses the restored table, in which they do not.
 */
import type { Clinic, ClinicId } from '../../domain/clinic.ts'
import { setPaused } from '../../store/clinic-pause.ts'
import { type ClinicChanges, clinicStore } from '../../store/clinics.ts'
import { credentialStore } from '../../store/credentials.ts'
import { excludePause } from '../../store/events/webhook-health.ts'
import type { Table } from '../../store/table/table.ts'
import { forEachConcurrent } from '../walk/for-each-concurrent.ts'
import type { Restore } from './mirror-partition.ts'

/**
 * Pauses a clinic for a restore, which `state` records. The pause takes effect again if it was there before the restore, because commands
 * of an operator may still write to a paused clinic: from now on they are rejected.
 */
export async function pauseForRestore(
  table: Table,
  { id, pausedAt }: Clinic,
  { isBegun, state }: { readonly isBegun: boolean; readonly state: ClinicChanges },
): Promise<Clinic> {
  await clinicStore({ table }).update(id, { ...state, ...(!isBegun && { pauseInEffectAt: null }) })
  return setPaused(table, id, pausedAt ?? new Date(table.now()).toISOString())
}

/** Records the end of a restore, and ends the pause unless an operator had paused the clinic before. */
export async function resumeAfterRestore(
  table: Table,
  { id, pausedAt }: Clinic,
  { wasPaused, state }: { readonly wasPaused: boolean; readonly state: ClinicChanges },
): Promise<void> {
  if (!wasPaused && pausedAt !== undefined) await excludePause(table, id, Date.parse(pausedAt), table.now())
  const ended = await clinicStore({ table }).update(id, {
    ...state,
    ...(!wasPaused && { pausedAt: null, pauseInEffectAt: null }),
  })
  await credentialStore({ table, now: table.now }).refreshClinic(ended)
}

/** Longer than any function runs, except for maintenance. */
export const DRAIN_MS = 120_000

/** The clinics are paused until another table replaces this one. */
export class OtherReplacement extends Error {
  readonly table: string
  constructor(table: string) {
    super(`the clinics are paused until ${table} is used`)
    this.table = table
  }
}

/** A clinic of the source can be changed, or could be since the reconciliation began. */
export class NotPaused extends Error {}

export const isDeleting = ({ deletingAt }: Clinic): boolean => deletingAt !== undefined

/**
 * What identifies the restored table and the pause of all clinics until it is used.
 * @throws NotPaused unless all clinics are paused until the same table is used
 */
export function restorePauseOf(clinics: readonly Clinic[]): string {
  // A clinic that is being deleted is paused anyway.
  const pauses = clinics.filter((clinic) => !isDeleting(clinic)).map(({ replacement }) => replacement)
  const tables = new Set(pauses.map((pause) => pause?.table))
  if (tables.size > 1 || tables.has(undefined))
    throw new NotPaused('a clinic of the table in use is not paused')
  // A clinic that was paused later could be changed until then.
  const last = pauses
    .map((pause) => pause?.since)
    .sort()
    .at(-1)
  return [...tables, last].join(' ')
}

/**
 * Pauses every clinic until a restored table is used instead, and waits until functions that had begun before have ended. May be repeated.
 * Returns what identifies the restored table and the pause.
 * @throws OtherReplacement before anything is changed; NotPaused if a clinic was created since
 */
export async function beginRestorePause(
  source: Table,
  restored: string,
  sleep: (ms: number) => Promise<unknown>,
): Promise<string> {
  const clinics = clinicStore({ table: source })
  const all = (await clinics.list()).filter((clinic) => !isDeleting(clinic))
  for (const { replacement } of all)
    if (replacement && replacement.table !== restored) throw new OtherReplacement(replacement.table)
  const since = new Date(source.now()).toISOString()
  await forEachConcurrent(all, (clinic) => {
    const begun = { table: restored, since, wasPaused: clinic.pausedAt !== undefined }
    const { replacement } = clinic
    return pauseForRestore(source, clinic, {
      isBegun: replacement !== undefined,
      state: { replacement: replacement ?? begun },
    })
  })
  const paused = await clinics.list()
  const inEffectAt = paused
    .filter((clinic) => !isDeleting(clinic))
    .map((clinic) => clinic.pauseInEffectAt ?? '')
  const wait = Math.max(...inEffectAt.map(Date.parse)) + DRAIN_MS - source.now()
  if (wait > 0) await sleep(wait)
  return restorePauseOf(paused)
}

/** Pauses a clinic of the restored table if an operator has paused it, and ends a pause that an operator has ended since. */
export async function takeOverPause({ source, restored }: Restore, id: ClinicId): Promise<void> {
  const [was, is] = await Promise.all([source, restored].map((table) => clinicStore({ table }).find(id)))
  // The pause of a restore of the clinic alone ends with it.
  if (!was || !is || is.restoring) return
  const isByOperator = (was.restoring ?? was.replacement)?.wasPaused
  const pausedAt = isByOperator ? was.pausedAt : undefined
  if (is.pausedAt !== pausedAt) await setPaused(restored, id, pausedAt ?? null)
}

/** Ends the pause of a clinic, unless an operator had paused it before. Without such a pause, it does nothing. */
export async function endRestorePause(table: Table, clinic: Clinic): Promise<void> {
  const { replacement } = clinic
  if (!replacement || isDeleting(clinic)) return
  const { wasPaused } = replacement
  await resumeAfterRestore(table, clinic, { wasPaused, state: { replacement: null } })
}
