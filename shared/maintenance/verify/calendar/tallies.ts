import type { CalendarEntity } from '../../../store/calendar/calendar-entity.ts'
import { countersOf, tallyAttribute } from '../../../store/calendar/tally.ts'
import { calendarListPartition, facetSortKey, tallyPartition } from '../../../store/keys/calendar.ts'
import type { Key } from '../../../store/keys/key.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { DerivedList, Unrepaired } from '../comparison/derived-items.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import type { Snapshot } from '../comparison/snapshot.ts'

/** Maximum number of counters in a note: a lost month would fill the screen. */
const MAX_NOTED = 5

/** A month of a list, and the key of its counters. */
type Month = { readonly list: string; readonly key: Key }

/** Verifies the tallies of a kind of record against a recount of the lists of the clinic and of doctors. */
export function tallyChecker(
  { table, clinic, count, examineAll }: Inspection,
  { entityCode, facets }: Pick<CalendarEntity<never, string>, 'entityCode' | 'facets'>,
  { missing, extra }: Unrepaired,
) {
  const months: Month[] = []

  /** The clinic's or a doctor's list. Its months are those that have rows or counters. */
  function listOf(doctor: string | null): DerivedList {
    const list = calendarListPartition(clinic, entityCode, doctor)
    const pk = tallyPartition(clinic, entityCode, doctor)
    const names = new Set<string>()
    const onItem = ({ sk }: Pick<Key, 'sk'>) => names.add(monthOfRow(sk))
    const onEnd = async () => {
      for await (const page of partitionPages(table, pk, { keysOnly: true })) {
        count('tallies', page.length)
        for (const { sk } of page) names.add(sk)
      }
      // A row with a malformed key has none.
      names.delete('')
      months.push(...[...names].map((sk) => ({ list, key: { pk, sk } })))
    }
    return { pk: list, what: 'rows', keysOnly: true, onItem, onEnd }
  }

  /** Reads the counters before and after the rows: if nothing was counted in between, they must agree. */
  async function recheck({ list, key }: Month, read: Snapshot): Promise<Finding | 'moving' | null> {
    const before = await table.get(key)
    const rows = await recount(list, key.sk)
    const after = await table.get(key)
    const counters = [before, after].map((item) => new Map(item ? countersOf(item) : []))
    const names = new Set([...rows.keys(), ...counters.flatMap((counted) => [...counted.keys()])])
    const wrong = [...names].filter((name) =>
      counters.every((counted) => (counted.get(name) ?? 0) !== (rows.get(name) ?? 0)),
    )
    if (wrong.length === 0) return null
    const item = await read.get(key)
    if ([after, item].some((other) => other?.v !== before?.v)) return 'moving'
    const notes = wrong
      .slice(0, MAX_NOTED)
      .map((name) => `${name} is ${Number(counters[0]?.get(name) ?? 0)}, not ${rows.get(name) ?? 0}`)
    if (wrong.length > MAX_NOTED) notes.push(`${wrong.length - MAX_NOTED} more`)
    const repair = () => {
      const counted = Object.fromEntries(wrong.map((name) => [name, rows.get(name) ?? 0]))
      return read.write([table.putWrite({ ...key, ...item, ...counted, v: (Number(item?.v) || 0) + 1 })])
    }
    return findingOf('tally_wrong', key, repair, notes.join('; '))
  }

  /** The rows of a month, by the name of their counter: also with those that are missing, and without those that are extra. */
  async function recount(list: string, month: string): Promise<ReadonlyMap<string, number>> {
    const counted = new Map<string, number>()
    const add = (sk: string, by: number) => {
      const name = counterOfRow(sk)
      if (monthOfRow(sk) === month) counted.set(name, (counted.get(name) ?? 0) + by)
    }
    for (const facet of Object.values(facets)) {
      const bounds = { from: facetSortKey(facet, month), to: facetSortKey(facet, `${month}~`) }
      for await (const page of partitionPages(table, list, { ...bounds, keysOnly: true }))
        for (const { sk } of page) add(sk, 1)
    }
    for (const { pk, sk } of missing) if (pk === list) add(sk, 1)
    for (const { pk, sk } of extra) if (pk === list) add(sk, -1)
    return counted
  }

  return { listOf, checkMonths: (): Promise<void> => examineAll(months, recheck) }
}

/** The month of a row of a sorted list, `facet#date#...`. */
const monthOfRow = (sk: string): string => (sk.split('#')[1] ?? '').slice(0, 7)

function counterOfRow(sk: string): string {
  const [facet = '', date = ''] = sk.split('#')
  return tallyAttribute(date, facet)
}
