/**
 * Prepares a restored table for use. It has the clinics' data of the restored time; what had effects outside of the table is
 * taken from the table that was in use since: messages, events, deliveries, endpoints, credentials, erasures.
 */
import type { Clinic, ClinicId } from '../../domain/clinic.ts'
import { clinicStore } from '../../store/clinics.ts'
import { deletedClinics } from '../../store/copies/deleted-clinics.ts'
import { erasureLedger } from '../../store/copies/erasure-ledger.ts'
import { skipEventPositions } from '../../store/events/fan-out.ts'
import { walkKey } from '../../store/keys/operator.ts'
import { type Table, withoutEvents } from '../../store/table/table.ts'
import { forEachConcurrent } from '../walk/for-each-concurrent.ts'
import { clinicsOf } from '../walk/sources.ts'
import { type WalkOptions, walk } from '../walk/walk.ts'
import { type ReplayCounts, replayErasures } from './erasure-replay.ts'
import { endHolds } from './holds.ts'
import { continueEventCounters, takeOverDueItems, takeOverIntegrations } from './integrations.ts'
import { holdMessages, takeOverMessages } from './messages.ts'
import type { Restore } from './mirror-partition.ts'
import { endRestorePause, isDeleting, NotPaused, restorePauseOf, takeOverPause } from './restore-pause.ts'

export type ReconciledClinic = {
  readonly clinic: Clinic
  readonly messages: Awaited<ReturnType<typeof takeOverMessages>> | null
  readonly erasures: ReplayCounts | null
}

export type Reconciliation = {
  /** The clinics that this process reconciled. */
  readonly clinics: readonly ReconciledClinic[]
  /** Over all processes, if others were stopped. */
  readonly reconciled: number
  /** Clinics that could not be reconciled: the table must not be used. */
  readonly failed: number
  /** Clinics of the source that were created after the restored time. */
  readonly missing: readonly Clinic[]
  /** Messages that a person has to resolve. */
  readonly held: number
}

export type ReconcileOptions = WalkOptions & {
  readonly now: () => number
  /** Identifies the restore, and the pause of the source (restore-pause.ts): what was reconciled in another pause is reconciled again. */
  readonly restore: string
  /** Called with the patients before they are erased again. */
  readonly onErasures?: (clinic: ClinicId, patients: readonly string[]) => void
  readonly onClinic?: (reconciled: ReconciledClinic) => void
  /** Called with a clinic that cannot be reconciled; the others still are. */
  readonly onClinicFailed?: (clinic: string, error: Error) => unknown
}

/** An erasure in the source is not complete: it has to be repeated there first. */
export class UnfinishedErasure extends Error {
  readonly clinic: ClinicId
  readonly patient: string
  constructor(clinic: ClinicId, patient: string) {
    super(`the erasure of a patient of clinic ${clinic} was interrupted`)
    this.clinic = clinic
    this.patient = patient
  }
}

/** The restored table has a clinic that the source does not have: it was deleted, or one of them is another deployment's. */
export class UnknownClinic extends Error {
  readonly clinic: ClinicId
  readonly wasDeleted: boolean
  constructor(clinic: ClinicId, wasDeleted: boolean) {
    super(`the source does not have clinic ${clinic}`)
    this.clinic = clinic
    this.wasDeleted = wasDeleted
  }
}

/**
 * Reconciles a restored table from the source, whose clinics are paused for it. It may be interrupted and repeated until the
 * table is in use.
 * @throws NotPaused, UnfinishedErasure or UnknownClinic before anything is changed; NotPaused if the pause has ended since; WalkTaken
 */
export async function reconcileWithSource(
  tables: Restore,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const { source, restored } = tables
  const ledger = erasureLedger({ table: source })
  const requirePaused = async () => {
    if (restorePauseOf(await clinicStore({ table: source }).list()) !== options.restore)
      throw new NotPaused('the clinics of the table in use are paused for another restore')
  }
  await requirePaused()
  const { clinics, missing } = await requireReconcilable(tables)
  const reconcile = async ({ id }: Clinic) => {
    await takeOverPause(tables, id)
    await takeOverIntegrations(tables, id)
    const messages = await takeOverMessages(tables, id)
    await continueEventCounters(tables, id)
    // Last, because messages and responses that were taken over can concern patients who were erased.
    const erasures = await ledger.list(id)
    options.onErasures?.(
      id,
      erasures.map(({ patient }) => patient),
    )
    // The source's events of these erasures were taken over.
    return { messages, erasures: await replayErasures(withoutEvents(restored), id, erasures) }
  }
  return reconcileClinics(restored, clinics, options, {
    begin: () => takeOverDueItems(tables),
    reconcile,
    finish: async () => {
      const held = await holdMessages(restored, source, options.now)
      await requirePaused()
      return { missing, held }
    },
  })
}

/**
 * The clinics of a restored table, and those of the source that it lacks.
 * @param onErasures called with the patients of each clinic who will be erased again
 * @throws UnfinishedErasure or UnknownClinic if the table cannot be reconciled with the source
 */
export async function requireReconcilable(
  { source, restored }: Restore,
  onErasures: ReconcileOptions['onErasures'] = () => {},
): Promise<{ clinics: Clinic[]; missing: Clinic[] }> {
  const ledger = erasureLedger({ table: source })
  // One whose deletion has begun would be served again.
  const all = (await clinicStore({ table: source }).list()).filter((clinic) => !isDeleting(clinic))
  const clinics = await clinicStore({ table: restored }).list()
  const known = new Set(all.map(({ id }) => id))
  // Clinics that the source lacks would be removed from the restored table.
  const unknown = clinics.find(({ id }) => !known.has(id))
  if (unknown)
    throw new UnknownClinic(unknown.id, (await deletedClinics({ table: source }).find(unknown.id)) !== null)
  const ids = new Set(clinics.map(({ id }) => id))
  await forEachConcurrent(all, async ({ id }) => {
    const erasures = await ledger.list(id)
    const unfinished = erasures.find(({ isFinished }) => !isFinished)
    if (unfinished) throw new UnfinishedErasure(id, unfinished.patient)
    if (ids.has(id))
      onErasures(
        id,
        erasures.map(({ patient }) => patient),
      )
  })
  return { clinics, missing: all.filter(({ id }) => !ids.has(id)) }
}

/**
 * Reconciles a restored table whose source is lost. Messages without an outcome are left to a person. Deliveries that were not
 * finished are made again, and new events get positions after all that integrators can have read.
 */
export async function reconcileWithoutSource(
  restored: Table,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const clinics = await clinicStore({ table: restored }).list()
  return reconcileClinics(restored, clinics, options, {
    reconcile: async ({ id }) => {
      await skipEventPositions(restored, id, options.restore)
      return { messages: null, erasures: null }
    },
    finish: async () => ({ missing: [], held: await holdMessages(restored, null, options.now) }),
  })
}

type Steps = {
  readonly begin?: () => Promise<unknown>
  readonly reconcile: (clinic: Clinic) => Promise<Pick<ReconciledClinic, 'messages' | 'erasures'>>
  readonly finish: () => Promise<Pick<Reconciliation, 'missing' | 'held'>>
}

/** Reconciles clinics, several at a time. Verifying them takes longer, and can wait until they are served. The progress is in the restored table: nothing changes the source. */
async function reconcileClinics(
  restored: Table,
  all: readonly Clinic[],
  options: ReconcileOptions,
  { reconcile, finish, ...steps }: Steps,
): Promise<Reconciliation> {
  const byId = new Map(all.map((clinic) => [clinic.id, clinic]))
  const clinics: ReconciledClinic[] = []
  return walk(
    restored,
    clinicsOf([...byId.keys()]),
    {
      ...steps,
      progress: walkKey('maintain', 'reconcile'),
      subject: options.restore,
      visit: async ([id]) => {
        const clinic = byId.get(id) as Clinic
        // The restored time can be within an earlier pause.
        await endRestorePause(restored, clinic)
        await endHolds(restored, clinic.id)
        const taken = await reconcile(clinic)
        const reconciled = { clinic, ...taken }
        clinics.push(reconciled)
        options.onClinic?.(reconciled)
        return { reconciled: 1, failed: 0 }
      },
      onFailed: async ([id], error) => {
        await options.onClinicFailed?.(id, error)
        return { reconciled: 0, failed: 1 }
      },
      finish: async ({ counts: { reconciled = 0, failed = 0 } }) => ({
        ...(await finish()),
        clinics,
        reconciled,
        failed,
      }),
    },
    options,
  )
}
