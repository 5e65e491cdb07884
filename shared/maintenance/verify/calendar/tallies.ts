import { summed, tallyAttribute, toDayTallies } from '../../../store/calendar/tally.ts'
import {
  calendarListPartition,
  dayEnd,
  type EntityCode,
  facetSortKey,
  tallyMonth,
  tallyMonthEnd,
  tallyPartition,
} from '../../../store/keys/calendar.ts'
import type { Key } from '../../../store/keys/key.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import type { UnrepairedRows } from '../comparison/unrepaired-rows.ts'
import { setCounters } from './tally-repair.ts'

/** One counter's cell and attribute name. */
type Cell = { readonly name: string; readonly date: string; readonly facet: string }

/** The counters of one month by their names, as {@link summed} returns them. A damaged counter is not a number. */
type Counters = Record<string, unknown>

/** Row counts of one month, by the name of the cell's counter. */
type Recount = Map<string, { readonly cell: Cell; readonly rows: number }>

/** Fallback for a sort key that is not a month: readers count the item anyway. */
const SAMPLE_MONTH = '2000-01'

/** More than a month's item and its shards. */
const MAX_ITEMS_OF_MONTH = 100

/** Maximum number of counters in a note: a lost month would fill the screen. */
const MAX_NOTED = 5

/** Reads a list, and calls `onRow` with each row that is not extra. */
type ReadList = (pk: string, what: string, onRow: (row: Item) => void) => Promise<void>

/** Verifies the tallies of a kind of record against a recount of the lists of the clinic and of doctors. */
export function tallyChecker(inspection: Inspection, entityCode: EntityCode, unrepaired: UnrepairedRows) {
  const { table, clinic, examine } = inspection
  /** The cells of each list that did not match when it was read last, to be read again once the rows are right. */
  const suspects = new Map<string, readonly [Key, Cell[]][]>()

  /** Reads the clinic's or a doctor's list, and compares its tallies with it. */
  async function read(doctor: string | null, readList: ReadList): Promise<void> {
    const list = calendarListPartition(clinic, entityCode, doctor)
    const months = new Map<string, Recount>()
    await readList(list, 'rows', ({ sk }) => countRow(months, sk))
    for (const sk of unrepaired.missing.of(list)) countRow(months, sk)
    suspects.set(list, await suspectCells(inspection, tallyPartition(clinic, entityCode, doctor), months))
  }

  const checkSurveyed = (): Promise<void> =>
    forEachConcurrent(
      [...suspects].flatMap(([list, months]) => months.map(([key, cells]) => ({ list, key, cells }))),
      ({ list, key, cells }) => examine(recheck(list, key, cells)),
    )

  /** Reads the counters before and after the rows: if nothing was counted in between, they must agree. */
  const recheck =
    (list: string, key: Key, cells: readonly Cell[]): Recheck =>
    async () => {
      const before = await readMonth(key)
      const recounts = await Promise.all(
        cells.map(async (cell) => ({ name: cell.name, rows: await recountCell(list, cell) })),
      )
      const after = await readMonth(key)
      const [countersBefore, countersAfter] = [summed(before), summed(after)]
      const wrong = recounts.filter(
        ({ name, rows }) => counter(countersBefore, name) !== rows || counter(countersAfter, name) !== rows,
      )
      if (wrong.length === 0) return null
      if (versionsOf(before) !== versionsOf(after)) return 'moving'
      const notes = wrong
        .slice(0, MAX_NOTED)
        .map(({ name, rows }) => `${name} is ${Number(counter(countersBefore, name))}, not ${rows}`)
      const note = [...notes, ...(wrong.length > MAX_NOTED ? [`${wrong.length - MAX_NOTED} more`] : [])].join(
        '; ',
      )
      return {
        differences: [{ kind: 'tally_wrong', key, note }],
        repair: () => table.transact(setCounters(table, key, before, wrong)),
      }
    }

  /** The item of a month and its shards. */
  async function readMonth({ pk, sk }: Key): Promise<Item[]> {
    const items = await table.query({ pk, from: sk, to: tallyMonthEnd(sk), limit: MAX_ITEMS_OF_MONTH })
    return items.filter((item) => tallyMonth(item) === sk)
  }

  async function recountCell(list: string, { date, facet }: Cell): Promise<number> {
    const bounds = { from: facetSortKey(facet, date), to: facetSortKey(facet, dayEnd(date)) }
    const within = (rows: readonly string[]) =>
      rows.filter((sk) => bounds.from <= sk && sk <= bounds.to).length
    let counted = within(unrepaired.missing.of(list)) - within(unrepaired.extra.of(list))
    for await (const page of partitionPages(table, list, { ...bounds, keysOnly: true }))
      counted += page.length
    return counted
  }

  return { read, checkSurveyed }
}

/** The cells of each month whose counters differ from a recount. */
async function suspectCells(
  inspection: Inspection,
  pk: string,
  months: Map<string, Recount>,
): Promise<[Key, Cell[]][]> {
  const suspects: [month: string, cells: Cell[]][] = []
  for (const [month, counters] of await readCounters(inspection, pk)) {
    suspects.push([month, wrongCells(month, counters, months.get(month) ?? new Map())])
    months.delete(month)
  }
  for (const [month, recount] of months) suspects.push([month, [...recount.values()].map(({ cell }) => cell)])
  return suspects.flatMap(([sk, cells]): [Key, Cell[]][] => (cells.length > 0 ? [[{ pk, sk }, cells]] : []))
}

/** The counters of each month, with the counters of its shards. */
async function readCounters({ table, count }: Inspection, pk: string): Promise<Map<string, Counters>> {
  const months = new Map<string, Counters>()
  for await (const page of partitionPages(table, pk)) {
    count('tallies', page.length)
    // A month can begin on one page and end on the next.
    for (const [month, items] of Map.groupBy(page, tallyMonth))
      months.set(month, summed([months.get(month) ?? {}, ...items]))
  }
  return months
}

/** Counts a row of a sorted list, `facet#date#...`, in its month. */
function countRow(months: Map<string, Recount>, sk: string): void {
  const [facet = '', date = ''] = sk.split('#')
  const month = date.slice(0, 7)
  const recount: Recount = months.get(month) ?? new Map()
  const name = tallyAttribute(date, facet)
  const rows = (recount.get(name)?.rows ?? 0) + 1
  months.set(month, recount.set(name, { cell: { name, date, facet }, rows }))
}

/** The cells whose counter differs from the recount, including cells that only one of them has. */
function wrongCells(month: string, counters: Counters, recount: Recount): Cell[] {
  const cells = new Map([...recount].map(([name, { cell }]) => [name, cell]))
  for (const { date, counts } of toDayTallies(SAMPLE_MONTH, counters)) {
    for (const facet of counts.keys()) {
      const name = tallyAttribute(date, facet)
      cells.set(name, { name, date: month + date.slice(SAMPLE_MONTH.length), facet })
    }
  }
  return [...cells.values()].filter(({ name }) => counter(counters, name) !== (recount.get(name)?.rows ?? 0))
}

/** A counter that drops to zero stays as 0. */
const counter = (counters: Counters, name: string): unknown => counters[name] ?? 0

const versionsOf = (items: readonly Item[]): string => items.map(({ sk, v }) => `${sk}=${v}`).join()
