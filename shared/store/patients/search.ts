/** Lists patients: all, those that a search finds, or the active or inactive ones of either. */
import type { ClinicId } from '../../domain/clinic.ts'
import type { CursorPage, NumberedPage } from '../../domain/lists/cursor.ts'
import { offsetOf, type PageRequest } from '../../domain/lists/paging.ts'
import { earlierNeedles } from '../../domain/patients/earlier-folding.ts'
import type { Patient } from '../../domain/patients/patient.ts'
import { type Needles, parseSearchQuery } from '../../domain/patients/search-text.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { chunked } from '../table/chunked.ts'
import type { Table } from '../table/table.ts'
import { readPatientHead } from './head.ts'
import { inactivePatients } from './inactive-patients.ts'
import { cursorAfter, patientStore } from './patients.ts'
import { searchIndexes } from './search-indexes.ts'

/** After so many attempts, patients that change between the reads are left out. */
const MAX_ATTEMPTS = 3

/** Patients that are read at once. */
const MAX_READ = 100

/** Which patients are listed. */
type Filter = {
  readonly needles: Needles | null
  /** The needles for lines of an earlier folding. */
  readonly earlier?: Needles | undefined
  readonly isActive: boolean | undefined
}

/** A part of the list: from the one at `offset` on, of those with ordinals below `end`. */
type Part = { readonly offset: number; readonly limit: number; readonly end: number }

function needlesOf(query: string): Pick<Filter, 'needles' | 'earlier'> {
  const needles = parseSearchQuery(query)
  return { needles, earlier: needles ? earlierNeedles(query, needles) : undefined }
}

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
  ): Promise<NumberedPage<WithUpdatedAt<Patient>>> {
    const { needles, earlier } = needlesOf(query)
    if (!needles && isActive === undefined) return patients.page(clinic, request)
    const part = { offset: offsetOf(request), limit: request.limit, end: Number.POSITIVE_INFINITY }
    return read(clinic, { needles, earlier, isActive }, part)
  }

  /** At most `limit` of the same patients, who were created before the one at this cursor. */
  async function searchAfter(
    clinic: ClinicId,
    query: string,
    cursor: string,
    limit: number,
    isActive?: boolean,
  ): Promise<CursorPage<WithUpdatedAt<Patient>>> {
    const { needles, earlier } = needlesOf(query)
    if (!needles && isActive === undefined) return patients.after(clinic, cursor, limit)
    const { items, next } = await read(
      clinic,
      { needles, earlier, isActive },
      { offset: 0, limit, end: Number(cursor) },
    )
    return { items, next }
  }

  /** Patients who have all words of one of these names, at most `limit` for each name. */
  async function named(clinic: ClinicId, names: readonly string[], limit: number): Promise<Patient[]> {
    const queries = names.map(needlesOf)
    if (queries.length === 0) return []
    const index = await indexes.current(clinic)
    const ordinals = queries.flatMap(({ needles, earlier }) =>
      needles ? index.find(needles, 0, limit, { earlier: earlier ?? needles }).ordinals : [],
    )
    const chunks = chunked([...new Set(ordinals)], MAX_READ)
    return (await Promise.all(chunks.map((chunk) => patients.findByOrdinals(clinic, chunk)))).flat()
  }

  /** One that becomes active or inactive between the reads is not shown; a second attempt counts it right. */
  async function read(
    clinic: ClinicId,
    filter: Filter,
    part: Part,
    attempt = 1,
  ): Promise<NumberedPage<WithUpdatedAt<Patient>>> {
    const { total, ordinals } = await find(clinic, filter, part)
    const found = await patients.findByOrdinals(clinic, ordinals)
    const { isActive } = filter
    const items = isActive === undefined ? found : found.filter((patient) => patient.isActive === isActive)
    if (items.length < found.length && attempt < MAX_ATTEMPTS) return read(clinic, filter, part, attempt + 1)
    const next = part.offset + part.limit < total ? cursorAfter(ordinals) : null
    return { items, total, next }
  }

  async function find(
    clinic: ClinicId,
    { needles, earlier = needles ?? undefined, isActive }: Filter,
    { offset, limit, end }: Part,
  ): Promise<{ total: number; ordinals: number[] }> {
    if (needles && isActive === undefined)
      return (await indexes.current(clinic)).find(needles, offset, limit, { end, earlier })
    const head = await readPatientHead(table, clinic)
    // Reading who is inactive begins after the head is read: of the patients that the head counts, none can be missing there.
    const reading = inactive.read(clinic)
    const below = Math.min(end, head.patients)
    if (needles) {
      const [set, index] = await Promise.all([reading, indexes.current(clinic, head)])
      const isListed = (ordinal: number) => set.has(ordinal) !== isActive
      return index.find(needles, offset, limit, { end: below, isListed, earlier })
    }
    const set = await reading
    const count = set.count(below)
    const ordinals = set.select({ members: !isActive, end: below, offset, limit })
    return { total: isActive ? below - count : count, ordinals }
  }

  return { search, searchAfter, named, changes: patients.changes }
}
