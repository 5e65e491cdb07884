import { departmentProblems, priceListProblems, treatmentProblems } from '../../domain/booking/catalogue.ts'
import type { Doctor } from '../../domain/booking/doctor.ts'
import { DEPARTMENTS, type EntryKind, PRICE_LISTS, ROOMS, TREATMENTS } from '../../store/catalogue-kinds.ts'
import { clinicStore, toClinic } from '../../store/clinics.ts'
import { toDoctor } from '../../store/doctors.ts'
import {
  departmentsPartition,
  priceListsPartition,
  roomsPartition,
  treatmentsPartition,
} from '../../store/keys/catalogue.ts'
import { clinicKey, doctorKey, doctorsPartition } from '../../store/keys/clinics.ts'
import type { Key } from '../../store/keys/key.ts'
import { UnreadableRecord } from '../../store/table/unreadable-record.ts'
import type { Item } from '../../store/table/write-requests.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import type { Difference } from './comparison/difference.ts'
import { externalIdChecker } from './comparison/external-ids.ts'
import type { Inspection } from './comparison/inspection.ts'

/**
 * Verifies that the settings of the clinic, doctors and the records of the catalogue can be read, refer to records that exist, and do
 * not contradict each other. What is wrong is for the operator to decide.
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
  const unreadable = new Set<string>()
  /** Whether a record exists, readable or not. */
  const known = (entries: ReadonlyMap<string, unknown>) => ({
    has: (id: string) => entries.has(id) || unreadable.has(id),
  })
  const report = (key: Key, problems: readonly { readonly field: string; readonly issue: string }[]) =>
    differences.push(
      ...problems.map(
        ({ field, issue }): Difference => ({ kind: 'catalogue_wrong', key, note: `${field} ${issue}` }),
      ),
    )

  async function read<Entry>(
    what: string,
    { partitionOf, decode }: Pick<EntryKind<Entry>, 'partitionOf' | 'decode'>,
  ): Promise<Map<string, Entry>> {
    const entries = new Map<string, Entry>()
    for await (const page of partitionPages(table, partitionOf(clinic)))
      for (const item of page)
        try {
          entries.set(item.sk, decode(item, item.sk))
        } catch {
          unreadable.add(item.sk)
          differences.push({ kind: 'record_unreadable', key: { pk: item.pk, sk: item.sk } })
        }
    if (entries.size > 0) count(what, entries.size)
    return entries
  }

  await reportSettings()

  const priceLists = await read('price_lists', PRICE_LISTS)
  const treatments = await read('treatments', TREATMENTS)
  const rooms = await read('rooms', ROOMS)
  const doctors = await read<Doctor>('doctors', {
    partitionOf: doctorsPartition,
    decode: (item) => toDoctor(item as Item),
  })
  const departments = await read('departments', DEPARTMENTS)
  for (const [id, list] of priceLists)
    report(PRICE_LISTS.keyOf(clinic, id), priceListProblems(list, priceLists.values(), known(treatments)))
  for (const [id, treatment] of treatments)
    report(TREATMENTS.keyOf(clinic, id), treatmentProblems(treatment, treatments.values(), known(doctors)))
  for (const [id, room] of rooms)
    report(ROOMS.keyOf(clinic, id), departmentProblems(room, known(departments)))
  for (const [id, doctor] of doctors)
    report(doctorKey(clinic, id), departmentProblems(doctor, known(departments)))
  return differences

  async function reportSettings(): Promise<void> {
    const key = clinicKey(clinic)
    try {
      toClinic((await table.get(key)) ?? key)
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error
      differences.push({ kind: 'record_unreadable', key })
    }
  }
}

/** Verifies that the secret with which a clinic's recipients are hashed is there. Every erasure replaces it. */
export async function checkRecipientSecret({ table, clinic, examine }: Inspection): Promise<void> {
  const key = clinicKey(clinic)
  await examine(async () => {
    const item = await table.get(key)
    if (!item || typeof item.recipientSecret === 'string') return null
    return {
      differences: [{ kind: 'secret_missing', key }],
      repair: () => clinicStore({ table }).replaceRecipientSecret(clinic),
    }
  })
}

/** Verifies the external ids of doctors and of the records of the catalogue. */
export async function checkExternalIdsOfCatalogue(inspection: Inspection): Promise<void> {
  const { table, clinic } = inspection
  const { check } = externalIdChecker(inspection)
  const partitions = {
    doctor: doctorsPartition(clinic),
    department: departmentsPartition(clinic),
    room: roomsPartition(clinic),
    treatment: treatmentsPartition(clinic),
    'price-list': priceListsPartition(clinic),
  } as const
  for (const [kind, pk] of Object.entries(partitions))
    for await (const page of partitionPages(table, pk)) await check(kind as keyof typeof partitions, page)
}
