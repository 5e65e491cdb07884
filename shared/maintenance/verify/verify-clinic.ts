/**
 * Verifies all derived items of a clinic, namely lists, tallies, days, search and copied names, against the records.
 * Reads in pages, so memory does not grow with the clinic. Other writers may be active: a suspect is read again until it
 * did not change between the reads.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import type { Table } from '../../store/table/table.ts'
import { verifyCalendarLists } from './calendar/calendar-lists.ts'
import { checkCatalogue, checkExternalIdsOfCatalogue, checkRecipientSecret } from './catalogue.ts'
import { checkClinicIndexes } from './clinic-indexes.ts'
import { externalIdChecker } from './comparison/external-ids.ts'
import {
  type Inspection,
  type InspectionOptions,
  openInspection,
  trackRepairs,
  type Verification,
} from './comparison/inspection.ts'
import { checkHolidays } from './doctor-holidays.ts'
import { checkOverlappingAppointments } from './overlapping-appointments.ts'
import { checkInactivePatients } from './patients/inactive-patients.ts'
import { checkListedPatients } from './patients/listed-patients.ts'
import { patientCountChecker } from './patients/patient-count.ts'
import { checkPatientItems } from './patients/patient-items.ts'
import { checkPatientOrdinals } from './patients/patient-ordinals.ts'
import { checkSearchIndex } from './search/search-index.ts'
import { invalidateIndexes } from './search/segment-rewrite.ts'
import { staleOwnerChecker } from './stale-owners.ts'

/**
 * The parts of a verification, in this order. Later ones rely on the repairs of those before. Each reads all patients again that
 * it needs: a verification that was stopped continues with the part in which it was.
 */
const PARTS: Readonly<Record<string, (inspection: Inspection) => Promise<void>>> = {
  settings: verifySettings,
  patients: verifyPatients,
  appointments: (inspection) => verifyCalendarLists(inspection, ['appointments']),
  // An invoice is settled by its payments.
  invoices: (inspection) => verifyCalendarLists(inspection, ['invoices', 'payments']),
  messages: (inspection) => verifyCalendarLists(inspection, ['messages']),
  visits: checkOverlappingAppointments,
  external_ids: (inspection) => externalIdChecker(inspection).checkLinks(),
}

/** The parts that were verified, and what they found. */
export type VerifiedParts = Verification & { readonly parts: readonly string[] }

export type VerifyOptions = Omit<InspectionOptions, 'before'> & {
  /** Milliseconds that a refresh of copied names may take. */
  readonly gracePeriodMs?: number
  /** Parts that were verified before a verification was stopped, and are not verified again. */
  readonly before?: VerifiedParts | undefined
  /** Called after each part, with all that were verified so far. */
  readonly onPart?: (verified: VerifiedParts) => void
}

/** Verifies one clinic and reports every difference; with `repair`, after repairing it if possible. */
export async function verifyClinic(
  table: Table,
  clinic: ClinicId,
  options: VerifyOptions,
): Promise<Verification> {
  const { before, onPart = () => {}, gracePeriodMs } = options
  const { inspection, checked, totals } = openInspection(table, clinic, options)
  const staleOwners = await staleOwnerChecker(inspection, gracePeriodMs)
  const parts = [...(before?.parts ?? [])]
  for (const [part, verify] of Object.entries(PARTS)) {
    if (parts.includes(part)) continue
    await verify(inspection)
    parts.push(part)
    onPart({ parts, checked, ...totals })
  }
  await staleOwners.check()
  return { checked, ...totals }
}

async function verifySettings(inspection: Inspection): Promise<void> {
  await checkClinicIndexes(inspection)
  await checkCatalogue(inspection)
  await checkRecipientSecret(inspection)
  await checkExternalIdsOfCatalogue(inspection)
  await checkHolidays(inspection)
}

/**
 * Verifies records before the items derived from them, so that repairs use repaired records. After a repair, functions
 * reload their search index.
 */
async function verifyPatients(inspection: Inspection): Promise<void> {
  const { tracked, hasRepaired } = trackRepairs(inspection)
  const count = patientCountChecker(tracked)
  await count.checkMin()
  const { wrongRows, highest } = await checkListedPatients(tracked)
  const lost = await checkPatientOrdinals(tracked, wrongRows)
  await count.checkMax(highest)
  await checkSearchIndex(tracked)
  await checkInactivePatients(tracked)
  await checkPatientItems(tracked, lost)
  if (hasRepaired()) await invalidateIndexes(inspection.table, inspection.clinic)
}
