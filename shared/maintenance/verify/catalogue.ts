import { departmentProblems, priceListProblems, treatmentProblems } from '../../domain/booking/catalogue.ts'
import { DEPARTMENTS, type EntryKind, PRICE_LISTS, ROOMS, TREATMENTS } from '../../store/catalogue-kinds.ts'
import { doctorStore } from '../../store/doctors.ts'
import { doctorKey } from '../../store/keys/clinics.ts'
import type { Key } from '../../store/keys/key.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import type { Difference } from './comparison/difference.ts'
import type { Inspection } from './comparison/inspection.ts'

/**
 * Verifies that the records of the catalogue, and doctors, refer to records that exist and do not contradict each other. What is
 * wrong is for the operator to decide.
 */
export async function checkCatalogue(inspection: Inspection): Promise<void> {
  const differences = await catalogueDifferences(inspection, inspection.count)
  if (differences.length === 0) return
  await inspection.examine(async () => {
    const found = await catalogueDifferences(inspection, () => {})
    return found.length > 0 ? { differences: found, repair: null } : null
  })
}

/** Reads records before those that they refer to: a record is created before others refer to it, and none is removed. */
async function catalogueDifferences(
  { table, clinic }: Inspection,
  count: Inspection['count'],
): Promise<readonly Difference[]> {
  const differences: Difference[] = []
  const report = (key: Key, problems: readonly { readonly field: string; readonly issue: string }[]) =>
    differences.push(
      ...problems.map(
        ({ field, issue }): Difference => ({ kind: 'catalogue_wrong', key, note: `${field} ${issue}` }),
      ),
    )

  async function read<Entry>(
    what: string,
    { partitionOf, decode }: EntryKind<Entry>,
  ): Promise<Map<string, Entry>> {
    const entries = new Map<string, Entry>()
    for await (const page of partitionPages(table, partitionOf(clinic)))
      for (const item of page)
        try {
          entries.set(item.sk, decode(item, item.sk))
        } catch {
          differences.push({ kind: 'record_unreadable', key: { pk: item.pk, sk: item.sk } })
        }
    if (entries.size > 0) count(what, entries.size)
    return entries
  }

  const priceLists = await read('price_lists', PRICE_LISTS)
  const treatments = await read('treatments', TREATMENTS)
  const rooms = await read('rooms', ROOMS)
  const doctors = new Map((await doctorStore({ table }).list(clinic)).map((doctor) => [doctor.id, doctor]))
  const departments = await read('departments', DEPARTMENTS)
  for (const [id, list] of priceLists)
    report(PRICE_LISTS.keyOf(clinic, id), priceListProblems(list, priceLists.values(), treatments))
  for (const [id, treatment] of treatments)
    report(TREATMENTS.keyOf(clinic, id), treatmentProblems(treatment, treatments.values(), doctors))
  for (const [id, room] of rooms) report(ROOMS.keyOf(clinic, id), departmentProblems(room, departments))
  for (const [id, doctor] of doctors) report(doctorKey(clinic, id), departmentProblems(doctor, departments))
  return differences
}
