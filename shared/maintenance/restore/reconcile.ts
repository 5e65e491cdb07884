/**
 * Prepares a restored table for use. It has the clinics' data of the restored time; what had effects outside of the table is
 * taken from the table that was in use since: messages, events, deliveries, endpoints, credentials, erasures.
 */
import type { Clinic, ClinicId } from '../../domain/clinic.ts'
import { clinicStore } from '../../store/clinics.ts'
import { deletedClinics } from '../../store/copies/deleted-clinics.ts'
import { erasureLedger } from '../../store/copies/erasure-ledger.ts'
import { skipEventPositions } from '../../store/events/fan-out.ts'
import { type Table, withoutEvents } from '../../store/table/table.ts'
import type { Verification } from '../verify/comparison/inspection.ts'
import { verifyClinic } from '../verify/verify-clinic.ts'
import { type ReplayCounts, replayErasures } from './erasure-replay.ts'
import { continueEventCounters, takeOverDueItems, takeOverIntegrations } from './integrations.ts'
import { holdMessages, takeOverMessages } from './messages.ts'
import type { Restore } from './mirror-partition.ts'

export type ReconciledClinic = {
  readonly clinic: Clinic
  readonly messages: Awaited<ReturnType<typeof takeOverMessages>> | null
  readonly erasures: ReplayCounts | null
  readonly differences: number
}

export type Reconciliation = {
  readonly clinics: readonly ReconciledClinic[]
  /** Clinics of the source that were created after the restored time. */
  readonly missing: readonly Clinic[]
  /** Messages that a person has to resolve. */
  readonly held: number
}

export type ReconcileOptions = {
  readonly now: () => number
  /** Called with the patients before they are erased again. */
  readonly onErasures?: (clinic: ClinicId, patients: readonly string[]) => void
  readonly onClinic?: (reconciled: ReconciledClinic) => void
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
 * Reconciles a restored table from the source, which nothing may change during it. It may be interrupted and repeated until the
 * table is in use.
 * @throws UnfinishedErasure or UnknownClinic before anything is changed
 */
export async function reconcileWithSource(
  tables: Restore,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const { source, restored } = tables
  const ledger = erasureLedger({ table: source })
  const all = await clinicStore({ table: source }).list()
  const clinics = await clinicStore({ table: restored }).list()
  const known = new Set(all.map(({ id }) => id))
  // Clinics that the source lacks would be removed from the restored table.
  const unknown = clinics.find(({ id }) => !known.has(id))
  if (unknown)
    throw new UnknownClinic(unknown.id, (await deletedClinics({ table: source }).find(unknown.id)) !== null)
  for (const { id } of all) {
    const unfinished = (await ledger.list(id)).find(({ isFinished }) => !isFinished)
    if (unfinished) throw new UnfinishedErasure(id, unfinished.patient)
  }
  const reconciled: ReconciledClinic[] = []
  await takeOverDueItems(tables)
  for (const clinic of clinics) {
    await takeOverIntegrations(tables, clinic.id)
    const messages = await takeOverMessages(tables, clinic.id)
    await continueEventCounters(tables, clinic.id)
    // Last, because messages and responses that were taken over can concern patients who were erased.
    const erasures = await ledger.list(clinic.id)
    options.onErasures?.(
      clinic.id,
      erasures.map(({ patient }) => patient),
    )
    // The source's events of these erasures were taken over.
    const replayed = await replayErasures(withoutEvents(restored), clinic.id, erasures)
    reconciled.push(await verified(restored, { clinic, messages, erasures: replayed }, options))
  }
  const ids = new Set(clinics.map(({ id }) => id))
  return {
    clinics: reconciled,
    missing: all.filter(({ id }) => !ids.has(id)),
    held: await holdMessages(restored, source, options.now),
  }
}

/**
 * Reconciles a restored table whose source is lost. Messages without an outcome are left to a person. Deliveries that were not
 * finished are made again, and new events get positions after all that integrators can have read.
 */
export async function reconcileWithoutSource(
  restored: Table,
  /** Identifies the restore. */
  restore: string,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const clinics = await clinicStore({ table: restored }).list()
  const reconciled: ReconciledClinic[] = []
  const held = await holdMessages(restored, null, options.now)
  for (const clinic of clinics) {
    await skipEventPositions(restored, clinic.id, restore)
    reconciled.push(await verified(restored, { clinic, messages: null, erasures: null }, options))
  }
  return { clinics: reconciled, missing: [], held }
}

async function verified(
  restored: Table,
  reconciled: Omit<ReconciledClinic, 'differences'>,
  { onClinic }: ReconcileOptions,
): Promise<ReconciledClinic> {
  const { differences, repaired }: Verification = await verifyClinic(restored, reconciled.clinic.id, {
    repair: false,
    onDifference: () => {},
  })
  const result = { ...reconciled, differences: differences - repaired }
  onClinic?.(result)
  return result
}
