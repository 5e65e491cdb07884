/**
 * Counts again whatever a clinic's items say twice: lists, tallies, days, search and copies, against the records that
 * they follow from. Pages of strong reads, so that its memory does not grow with the clinic; other writers may be at
 * work, since a suspect is read until nobody has changed it between the reads.
 */
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { verifyCalendarLists } from './calendar-lists.ts'
import { checkClinicIndexes } from './clinic-indexes.ts'
import { type Inspection, type InspectionOptions, openInspection, trackRepairs } from './inspection.ts'
import { patientCountChecker } from './patient-count.ts'
import { checkPatientOrdinals } from './patient-ordinals.ts'
import { checkPatientRecords } from './patient-records.ts'
import { checkSearch } from './search.ts'
import { invalidateIndexes } from './segment-rewrite.ts'
import { staleOwnerChecker } from './stale-owners.ts'

export type VerifyOptions = InspectionOptions & {
  /** Milliseconds that a debt of copied names may be under way. */
  readonly gracePeriodMs?: number
}

export type Verification = {
  /** How many of what was looked at; `unsettled` were changed so fast that they could not be judged. */
  readonly checked: Record<string, number>
  readonly differences: number
  readonly repaired: number
}

/** Verifies one clinic, and tells of every difference; with `repair`, after it was mended as far as it can be. */
export async function verifyClinic(
  table: Table,
  clinic: ClinicId,
  options: VerifyOptions,
): Promise<Verification> {
  const { inspection, checked, totals } = openInspection(table, clinic, options)
  const staleOwners = await staleOwnerChecker(inspection, options.gracePeriodMs)
  await checkClinicIndexes(inspection)
  await verifyPatients(inspection)
  await verifyCalendarLists(inspection)
  await staleOwners.check()
  return { checked, ...totals }
}

/**
 * What others follow from comes first: a repaired record must not be listed by a wrong one. After a repair, functions
 * drop what search has in their memory.
 */
async function verifyPatients(inspection: Inspection): Promise<void> {
  const { tracked: noticing, hasRepaired: mended } = trackRepairs(inspection)
  const count = patientCountChecker(noticing)
  await count.checkMin()
  const { wrongRows, highest } = await checkPatientRecords(noticing)
  await checkPatientOrdinals(noticing, wrongRows)
  await count.checkMax(highest)
  await checkSearch(noticing)
  if (mended()) await invalidateIndexes(inspection.table, inspection.clinic)
}
