import { departmentProblems, priceListProblems, treatmentProblems } from '../../domain/booking/catalogue.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { keysOf } from '../../domain/keys-of.ts'
import { instantOfUuid, isUuid } from '../../domain/uuid.ts'
import { COUNT } from '../../store/catalogue-count.ts'
import { DEPARTMENTS, PRICE_LISTS, ROOMS, TREATMENTS } from '../../store/catalogue-kinds.ts'
import { newRecipientSecret, toClinic } from '../../store/clinics.ts'
import { type StoredDoctor, toDoctor, toHolidays } from '../../store/doctors.ts'
import { decodeWebhook } from '../../store/events/items.ts'
import { provenanceOfItem } from '../../store/external-ids/provenance.ts'
import { holidayStore } from '../../store/holidays.ts'
import { clinicKey, doctorKey, doctorsPartition, holidaysKey } from '../../store/keys/clinics.ts'
import type { Key } from '../../store/keys/key.ts'
import { catalogueVersionKey } from '../../store/keys/operator.ts'
import { webhookCountKey, webhookKey, webhooksPartition } from '../../store/keys/webhooks.ts'
import { number } from '../../store/table/attributes.ts'
import type { Item } from '../../store/table/write-requests.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import type { Difference } from './comparison/difference.ts'
import { externalIdChecker } from './comparison/external-ids.ts'
import { type Finding, findingOf, type Inspection } from './comparison/inspection.ts'
import { readable } from './comparison/readable.ts'
import type { Snapshot } from './comparison/snapshot.ts'

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

/** The count of the records of a kind, and its attribute. */
const countOf = (clinic: ClinicId, name: KindName): readonly [key: Key, attribute: string] =>
  name === 'webhooks'
    ? [webhookCountKey(clinic), 'n']
    : [catalogueVersionKey(clinic, KINDS[name].kind.partitionOf(clinic)), COUNT]

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
  // What is wrong with the records comes first: with what is missing, the count is right again.
  if (differences.length === 0) {
    for (const name of keysOf(KINDS)) await examine((read) => recheckCount(inspection, name, read))
    return
  }
  await examine(async () => {
    const found = await catalogueDifferences(inspection)
    return found.length > 0 ? { differences: found, repair: null } : null
  })
}

/** A record that nothing refers to can be lost without any other trace. A catalogue that no release with counts has changed has none. */
async function recheckCount(
  { table, clinic }: Inspection,
  name: KindName,
  read: Snapshot,
): Promise<Finding | null> {
  const [key, attribute] = countOf(clinic, name)
  const item = await read.get(key)
  let n = 0
  for await (const page of partitionPages(table, KINDS[name].kind.partitionOf(clinic), { keysOnly: true }))
    n += page.length
  const count = item?.[attribute] ?? (name === 'webhooks' && (item || n > 0) ? null : n)
  const isNumbered = !item || [item.v, item.n ?? 0].every((value) => typeof value === 'number')
  if (count === n && isNumbered) return null
  const counted = { ...item, ...key, n: 0, [attribute]: n, v: (Number(item?.v) || 0) + 1 }
  const note = `${name.replace('_', ' ')} are ${n}, and were ${count ?? 'not counted'}`
  return findingOf('count_wrong', key, () => read.write([table.putWrite(counted)]), note)
}

const decodeVersioned = (kind: (typeof KINDS)[KindName]['kind'], item: Item) => {
  number('v').decode(item.v)
  if (!isUuid(item.sk)) throw new TypeError('the key is not an id')
  provenanceOfItem(item)
  return kind.decode(item, item.sk)
}

async function catalogueDifferences(
  { table, clinic }: Inspection,
  onItems: (name: KindName, items: readonly Item[]) => Promise<void> = async () => {},
): Promise<readonly Difference[]> {
  const differences: Difference[] = []
  const all: Partial<Record<KindName, Map<string, unknown>>> = {}
  for (const name of keysOf(KINDS)) {
    const { kind } = KINDS[name]
    const entries = new Map<string, unknown>()
    for await (const items of partitionPages(table, kind.partitionOf(clinic))) {
      await onItems(name, items)
      for (const item of items)
        entries.set(
          item.sk,
          readable(() => decodeVersioned(kind, item)),
        )
    }
    all[name] = entries
  }
  for (const name of keysOf(KINDS))
    for (const [id, entry] of all[name] ?? []) {
      const key = KINDS[name].kind.keyOf(clinic, id)
      if (entry === null) differences.push({ kind: 'record_unreadable', key })
      else
        for (const { field, issue } of PROBLEMS[name]?.(
          entry as never,
          // Filled by name, above.
          all as Catalogue,
        ) ?? [])
          differences.push({ kind: 'catalogue_wrong', key, note: `${field} ${issue}` })
    }
  return differences
}

/** Verifies the settings of the clinic. What no operator can set is repaired: what follows from the id, and the secret of recipients' hashes. */
export async function checkSettings({ table, clinic, examine }: Inspection): Promise<void> {
  const key = clinicKey(clinic)
  await examine(async (read) => {
    const item = await read.get(key)
    const derived: Item = {
      ...key,
      id: clinic,
      createdAt: instantOfUuid(clinic),
      v: 1,
      recipientSecret: newRecipientSecret(),
    }
    const wrong = Object.entries(derived).filter(([name, value]) =>
      name === 'id' ? item?.id !== clinic : typeof item?.[name] !== typeof value,
    )
    const repaired = { ...key, ...item, ...Object.fromEntries(wrong) }
    const differences: Difference[] = []
    if (item && wrong.length > 0)
      differences.push({ kind: 'settings_incomplete', key, note: wrong.map(([name]) => name).join(', ') })
    try {
      toClinic(item ? repaired : key)
    } catch (error) {
      const { message } = (error as Error).cause as Error
      const note = item ? `: ${message}; "clinic update" sets what is missing` : ', and is lost'
      differences.push({ kind: 'record_unreadable', key, note })
    }
    const repair = wrong.length > 0 && item ? () => read.write([table.putWrite(repaired)]) : null
    return differences.length > 0 ? { differences, repair } : null
  })
}

/** Verifies that each doctor has a copy of the clinic's holidays. A command that was interrupted may have left some out. */
export async function checkHolidays({ table, clinic, examine, examineAll }: Inspection): Promise<void> {
  const holidays = holidayStore({ table })
  const key = holidaysKey(clinic)
  await examine(async (read) => {
    const item = await read.get(key)
    if (item && !readable(() => toHolidays(item)))
      return findingOf('record_unreadable', key, null, ': the holidays')
    if (!item || Number.isSafeInteger(item.v)) return null
    const repair = () => read.write([table.putWrite({ ...item, v: 1 })])
    return findingOf('settings_incomplete', key, repair, 'the version of the holidays')
  })
  // Their copies may be all that is left of them.
  if (!(await holidays.read(clinic).catch(() => null))) return
  for await (const doctors of partitionPages(table, doctorsPartition(clinic), { keysOnly: true }))
    await examineAll(doctors, async ({ sk }, read) => {
      const item = await read.get(doctorKey(clinic, sk))
      // A doctor who cannot be read was reported before.
      const doctor = item && readable(() => toDoctor(item))
      if (!doctor || (await holidays.hasCopy(clinic, doctor))) return null
      // Without the clinic's holidays, the copies are all that is left of them.
      const repair = (await read.get(key)) ? () => holidays.refreshCopy(clinic, sk) : null
      return findingOf('holidays_outdated', item, repair)
    })
}
