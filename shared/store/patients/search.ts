/** Lists patients: all, those that a search finds, or the active or inactive ones of either. */
import type { ClinicId } from '../../domain/clinic.ts'
import { offsetOf, type Page, type PageRequest } from '../../domain/paging.ts'
import type { Patient } from '../../domain/patient.ts'
import { type Needles, parseSearchQuery } from '../../domain/search-text.ts'
import type { Table } from '../table/table.ts'
import { readPatientHead } from './head.ts'
import { inactivePatients } from './inactive-patients.ts'
import { patientStore } from './patients.ts'
import { searchIndexes } from './search-indexes.ts'

/** After so many attempts, patients that change meanwhile are left out. */
const MAX_ATTEMPTS = 3

export function patientSearch({ table }: { table: Table }, memoryBudget?: number) {
  const indexes = searchIndexes({ table }, memoryBudget)
  const patients = patientStore({ table })
  const inactive = inactivePatients({ table })

  /** Patients that match all words of `query`, and are active or inactive if asked for, most recently created first. */
  async function search(
    clinic: ClinicId,
    query: string,
    request: PageRequest,
    isActive?: boolean,
  ): Promise<Page<Patient>> {
    const needles = parseSearchQuery(query)
    if (isActive !== undefined) return pageOf(clinic, needles, isActive, request)
    if (!needles) return patients.page(clinic, request)
    const index = await indexes.current(clinic)
    const { total, ordinals } = index.find(needles, offsetOf(request), request.limit)
    return { items: await patients.findByOrdinals(clinic, ordinals), total }
  }

  /** The active or the inactive patients. One that changed between the reads is not shown; a second attempt counts it right. */
  async function pageOf(
    clinic: ClinicId,
    needles: Needles | null,
    isActive: boolean,
    request: PageRequest,
    attempt = 1,
  ): Promise<Page<Patient>> {
    const { total, ordinals } = await ordinalsOf(clinic, needles, isActive, request)
    const found = await patients.findByOrdinals(clinic, ordinals)
    const items = found.filter((patient) => patient.isActive === isActive)
    const hasChanged = items.length < ordinals.length
    return hasChanged && attempt < MAX_ATTEMPTS
      ? pageOf(clinic, needles, isActive, request, attempt + 1)
      : { items, total }
  }

  async function ordinalsOf(
    clinic: ClinicId,
    needles: Needles | null,
    isActive: boolean,
    request: PageRequest,
  ): Promise<{ total: number; ordinals: number[] }> {
    const [offset, { limit }] = [offsetOf(request), request]
    const reading = inactive.read(clinic)
    if (needles) {
      const [set, index] = await Promise.all([reading, indexes.current(clinic)])
      return index.find(needles, offset, limit, (ordinal) => set.has(ordinal) !== isActive)
    }
    const [set, { n }] = await Promise.all([reading, readPatientHead(table, clinic)])
    const count = set.count(n)
    const ordinals = set.select({ members: !isActive, end: n, offset, limit })
    return { total: isActive ? n - count : count, ordinals }
  }

  return { search }
}
