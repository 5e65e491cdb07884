/**
 * Verifies all derived items of a clinic, namely lists, tallies, days, search and copied names, against the records.
 * Reads in pages, so memory does not grow with the clinic. Other writers may be active: a suspect is read again until it
 * did not change between the reads.
 */
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { verifyCalendarLists } from './calendar-lists.ts'
import { checkCatalogue } from './catalogue.ts'
import { checkClinicIndexes } from './clinic-indexes.ts'
import { checkHolidays } from './doctor-holidays.ts'
import { checkInactivePatients } from './inactive-patients.ts'
import { type Inspection, type InspectionOptions, openInspection, trackRepairs } from './inspection.ts'
import { checkNationalIds } from './national-ids.ts'
import { checkOverlappingVisits } from './overlapping-visits.ts'
import { patientCountChecker } from './patient-count.ts'
import { checkPatientOrdinals } from './patient-ordinals.ts'
import { checkPatientRecords } from './patient-records.ts'
import { checkSearch } from './search.ts'
import { invalidateIndexes } from './segment-rewrite.ts'
import { staleOwnerChecker } from './stale-owners.ts'

export type VerifyOptions = InspectionOptions & {
  /** Milliseconds that a refresh of copied names may take. */
  readonly gracePeriodMs?: number
}

export type Verification = {
  /** Number of checked items by kind; `unsettled` items changed too often to be checked. */
  readonly checked: Record<string, number>
  readonly differences: number
  readonly repaired: number
}

/** Verifies one clinic and reports every difference; with `repair`, after repairing it if possible. */
export async function verifyClinic(
  table: Table,
  clinic: ClinicId,
  options: VerifyOptions,
): Promise<Verification> {
  const { inspection, checked, totals } = openInspection(table, clinic, options)
  const staleOwners = await staleOwnerChecker(inspection, options.gracePeriodMs)
  await checkClinicIndexes(inspection)
  await checkCatalogue(inspection)
  await checkHolidays(inspection)
  await verifyPatients(inspection)
  await verifyCalendarLists(inspection)
  await checkOverlappingVisits(inspection)
  await staleOwners.check()
  return { checked, ...totals }
}

/**
 * Verifies records before the items derived from them, so that repairs use repaired records. After a repair, functions
 * reload their search index.
 */
async function verifyPatients(inspection: Inspection): Promise<void> {
  const { tracked, hasRepaired } = trackRepairs(inspection)
  const count = patientCountChecker(tracked)
  await count.checkMin()
  const { wrongRows, highest } = await checkPatientRecords(tracked)
  await checkPatientOrdinals(tracked, wrongRows)
  await count.checkMax(highest)
  await checkSearch(tracked)
  await checkInactivePatients(tracked)
  await checkNationalIds(tracked)
  if (hasRepaired()) await invalidateIndexes(inspection.table, inspection.clinic)
}
