/**
 * Verifies all derived items of a clinic, namely lists, tallies, days, search and copied names, against the records.
 * Reads in pages. Other writers may be active: a suspect is read again until it
 * did not change between the reads.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import type { Table } from '../../store/table/table.ts'
import { pagesOf } from '../walk/sources.ts'
import { verifyCalendarLists } from './calendar/calendar-lists.ts'
import { checkInvoiceNumbers } from './calendar/invoice-numbers.ts'
import { checkCatalogue, checkHolidays, checkSettings } from './catalogue.ts'
import { checkClinicIndexes } from './clinic-indexes.ts'
import { externalIdChecker } from './comparison/external-ids.ts'
import {
  type Inspection,
  type InspectionOptions,
  openInspection,
  type Verification,
} from './comparison/inspection.ts'
import { checkEvents } from './events.ts'
import { checkOverlappingAppointments } from './overlapping-appointments.ts'
import { checkInactivePatients } from './patients/inactive-patients.ts'
import { patientCountChecker } from './patients/patient-count.ts'
import { checkPatientItems } from './patients/patient-items.ts'
import { checkSearchIndex, invalidateIndexes } from './patients/search-index.ts'
import { checkStaleOwners } from './stale-owners.ts'

/** The parts of a verification, in this order. Later ones rely on the repairs of those before. Each reads all patients again that it needs. */
const PARTS: Readonly<Record<string, (inspection: Inspection, options: VerifyOptions) => Promise<void>>> = {
  settings: verifySettings,
  patients: verifyPatients,
  appointments: (inspection) => verifyCalendarLists(inspection, ['appointments']),
  // An invoice is settled by its payments.
  invoices: async (inspection) => {
    await verifyCalendarLists(inspection, ['invoices', 'payments'])
    await checkInvoiceNumbers(inspection)
  },
  messages: (inspection) => verifyCalendarLists(inspection, ['messages']),
  overlapping_appointments: checkOverlappingAppointments,
  external_ids: (inspection) => externalIdChecker(inspection).checkLinks(),
  events: checkEvents,
  stale_owners: (inspection, { gracePeriodMs }) => checkStaleOwners(inspection, gracePeriodMs),
}

/** The names of the parts, one a page. */
export const verificationParts = pagesOf(Object.keys(PARTS))

export type VerifyOptions = InspectionOptions & {
  /** Milliseconds that a refresh of copied names may take. */
  readonly gracePeriodMs?: number
}

/**
 * Verifies one clinic and reports every difference; with `repair`, after repairing it if possible.
 * @param parts a verification that was stopped continues with the part in which it was
 */
export async function verifyClinic(
  table: Table,
  clinic: ClinicId,
  options: VerifyOptions,
  parts: readonly string[] = Object.keys(PARTS),
): Promise<Verification> {
  const { inspection, verifyPart, result } = openInspection(table, clinic, options)
  for (const part of parts) await verifyPart(async () => PARTS[part]?.(inspection, options))
  return result()
}

async function verifySettings(inspection: Inspection): Promise<void> {
  await checkSettings(inspection)
  await checkClinicIndexes(inspection)
  await checkCatalogue(inspection)
  await checkHolidays(inspection)
}

/**
 * Verifies records before the items derived from them, so that repairs use repaired records. After a repair, functions
 * reload their search index.
 */
async function verifyPatients(inspection: Inspection): Promise<void> {
  const { table, clinic, repairs } = inspection
  const before = repairs()
  const { checkMin, isReadable, checkMax } = patientCountChecker(inspection)
  const tooFew = await checkMin()
  // Only a head that can be read tells which positions of patients count.
  if (!(await isReadable())) return
  const differences = [...tooFew, ...(await checkMax(await checkPatientItems(inspection)))]
  // A head that counts others than there are contradicts a right index.
  if (differences.length === 0) await checkSearchIndex(inspection)
  await checkInactivePatients(inspection)
  if (repairs() > before) await invalidateIndexes(table, clinic)
}
