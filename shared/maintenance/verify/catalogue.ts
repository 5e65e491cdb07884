import { departmentProblems, priceListProblems, treatmentProblems } from '../../domain/booking/catalogue.ts'
import { DEPARTMENTS, PRICE_LISTS, ROOMS, TREATMENTS } from '../../store/catalogue-kinds.ts'
import { clinicStore, toClinic } from '../../store/clinics.ts'
import { type StoredDoctor, toDoctor } from '../../store/doctors.ts'
import { decodeWebhook } from '../../store/events/items.ts'
import { holidayStore } from '../../store/holidays.ts'
import { clinicKey, doctorKey, doctorsPartition } from '../../store/keys/clinics.ts'
import { webhookKey, webhooksPartition } from '../../store/keys/webhooks.ts'
import type { Item } from '../../store/table/write-requests.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import type { Difference } from './comparison/difference.ts'
import { externalIdChecker } from './comparison/external-ids.ts'
import { findingOf, type Inspection } from './comparison/inspection.ts'
import { readable } from './comparison/readable.ts'

const DOCTORS = {
  partitionOf: doctorsPartition,
  keyOf: doctorKey,
  decode: (item: unknown): StoredDoctor => toDoctor(item as Item),
}

const WEBHOOKS = { partitionOf: webhooksPartition, keyOf: webhookKey, decode: decodeWebhook }

/** Those first that refer to others: a record is created before others refer to it, and none is removed. */
const KINDS = {
  price_lists: { kind: PRICE_LISTS, imported: 'price-list' },
  treatments: { kind: TREATMENTS, imported: 'treatment' },
  rooms: { kind: ROOMS, imported: 'room' },
  doctors: { kind: DOCTORS, imported: 'doctor' },
  departments: { kind: DEPARTMENTS, imported: 'department' },
  webhooks: { kind: WEBHOOKS, imported: null },
} as const

type KindName = keyof typeof KINDS
type EntryOf<Name extends KindName> = ReturnType<(typeof KINDS)[Name]['kind']['decode']>

/** Records by their ids; null for those that cannot be read. */
type Catalogue = { readonly [Name in KindName]: ReadonlyMap<string, EntryOf<Name> | null> }

type Problem = { readonly field: string; readonly issue: string }

/** What is wrong with the records of each kind that refers to others. */
const PROBLEMS: {
  readonly [Name in KindName]?: (entry: EntryOf<Name>, all: Catalogue) => readonly Problem[]
} = {
  price_lists: (list, all) => priceListProblems(list, readableOf(all.price_lists), all.treatments),
  treatments: (treatment, all) => treatmentProblems(treatment, readableOf(all.treatments), all.doctors),
  rooms: (room, all) => departmentProblems(room, all.departments),
  doctors: (doctor, all) => departmentProblems(doctor, all.departments),
}

const readableOf = <Entry>(entries: ReadonlyMap<string, Entry | null>): Entry[] =>
  [...entries.values()].filter((entry) => entry !== null)

/**
 * Verifies that the settings of the clinic, doctors, webhooks and the records of the catalogue can be read, refer to records that exist, do not
 * contradict each other, and are found by external id. What is wrong is for the operator to decide.
 */
export async function checkCatalogue(inspection: Inspection): Promise<void> {
  const { count, examine } = inspection
  const externalIds = externalIdChecker(inspection)
  const differences = await catalogueDifferences(inspection, async (name, items) => {
    count(name, items.length)
    const { imported } = KINDS[name]
    if (imported) await externalIds.check(imported, items)
  })
  if (differences.length === 0) return
  await examine(async () => {
    const found = await catalogueDifferences(inspection)
    return found.length > 0 ? { differences: found, repair: null } : null
  })
}

async function catalogueDifferences(
  { table, clinic }: Inspection,
  onItems: (name: KindName, items: readonly Item[]) => Promise<void> = async () => {},
): Promise<readonly Difference[]> {
  const differences: Difference[] = []
  const settings = (await table.get(clinicKey(clinic))) ?? clinicKey(clinic)
  if (!readable(() => toClinic(settings)))
    differences.push({ kind: 'record_unreadable', key: clinicKey(clinic) })
  const all: Record<string, Map<string, unknown>> = {}
  for (const [name, { kind }] of Object.entries(KINDS)) {
    const entries = new Map<string, unknown>()
    for await (const items of partitionPages(table, kind.partitionOf(clinic))) {
      await onItems(name as KindName, items)
      for (const item of items)
        entries.set(
          item.sk,
          readable(() => kind.decode(item, item.sk)),
        )
    }
    all[name] = entries
  }
  for (const [name, entries] of Object.entries(all))
    for (const [id, entry] of entries) {
      const key = KINDS[name as KindName].kind.keyOf(clinic, id)
      if (entry === null) differences.push({ kind: 'record_unreadable', key })
      else
        for (const { field, issue } of PROBLEMS[name as KindName]?.(
          entry as never,
          all as unknown as Catalogue,
        ) ?? [])
          differences.push({ kind: 'catalogue_wrong', key, note: `${field} ${issue}` })
    }
  return differences
}

/** Verifies that the secret with which a clinic's recipients are hashed is there. Every erasure replaces it. */
export async function checkRecipientSecret({ table, clinic, examine }: Inspection): Promise<void> {
  const key = clinicKey(clinic)
  await examine(async (read) => {
    const item = await read.get(key)
    if (!item || typeof item.recipientSecret === 'string') return null
    const repair = () => clinicStore({ table }).replaceRecipientSecret(clinic)
    return findingOf('secret_missing', key, repair)
  })
}

/** Verifies that each doctor has a copy of the clinic's holidays. A command that was interrupted may have left some out. */
export async function checkHolidays({ table, clinic, examineAll }: Inspection): Promise<void> {
  const holidays = holidayStore({ table })
  for await (const doctors of partitionPages(table, doctorsPartition(clinic), { keysOnly: true }))
    await examineAll(doctors, async ({ sk }, read) => {
      const item = await read.get(doctorKey(clinic, sk))
      // A doctor who cannot be read was reported before.
      const doctor = item && readable(() => toDoctor(item))
      if (!doctor || (await holidays.hasCopy(clinic, doctor))) return null
      const repair = () => holidays.refreshCopy(clinic, sk)
      return findingOf('holidays_outdated', item, repair)
    })
}
