import { daysOf, tallyAttribute } from '../../../shared/store/calendar/tally.ts'
import {
  calendarListPartition,
  dayEnd,
  facetSort,
  tallyPartition,
} from '../../../shared/store/keys/calendar.ts'
import type { Key } from '../../../shared/store/keys/key.ts'
import type { Item } from '../../../shared/store/table/table.ts'
import { eachAbreast } from './each-abreast.ts'
import type { Look } from './fault.ts'
import type { Inspection } from './inspection.ts'
import { listedRows } from './listed-rows.ts'
import { partitionPages } from './partition-pages.ts'
import type { RecordKind } from './record-kinds.ts'
import type { UnmendedRows } from './unmended-rows.ts'

/** What one counter counts, and its name. */
type Cell = { readonly name: string; readonly date: string; readonly facet: string }

/** How many rows there are of each cell, by its counter's name; for one month. */
type Recount = Map<string, { readonly cell: Cell; readonly rows: number }>

/** Stands for whatever an item is kept under: readers count it, though it be no month. */
const A_MONTH = '2000-01'

/** Counters that a note names; a month lost whole would fill the screen. */
const NOTED = 5

/** Whether the rows of the clinic's or a doctor's list belong there, and its tallies are what a recount gives. */
export function talliedList<R>(inspection: Inspection, kind: RecordKind<R>, unmended: UnmendedRows) {
  const { table, clinic, count, examine } = inspection
  const { letter } = kind.entity
  const rows = listedRows(inspection, kind, unmended)

  async function check(doctor: string | null): Promise<void> {
    const list = calendarListPartition(clinic, letter, doctor)
    const tallies = tallyPartition(clinic, letter, doctor)
    const months = new Map<string, Recount>()
    await rows.check(list, ({ sk }) => add(months, sk))
    for (const sk of unmended.missing.of(list)) add(months, sk)
    const suspects: [month: string, cells: Cell[]][] = []
    for await (const page of partitionPages(table, tallies)) {
      count('tallies', page.length)
      for (const item of page) {
        suspects.push([item.sk, wrongCells(item, months.get(item.sk) ?? new Map())])
        months.delete(item.sk)
      }
    }
    for (const [month, recount] of months)
      suspects.push([month, [...recount.values()].map(({ cell }) => cell)])
    await eachAbreast(
      suspects.filter(([, cells]) => cells.length > 0),
      ([month, cells]) => examine(lookAt(list, { pk: tallies, sk: month }, cells)),
    )
  }

  /** The counters are read before and after their rows: while nothing was counted, they must agree. */
  const lookAt =
    (list: string, key: Key, cells: readonly Cell[]): Look =>
    async () => {
      const before = await table.get(key)
      const recounts = await Promise.all(
        cells.map(async (cell) => ({ name: cell.name, rows: await recounted(list, cell) })),
      )
      const after = await table.get(key)
      const wrong = recounts.filter(
        ({ name, rows }) => counter(before, name) !== rows || counter(after, name) !== rows,
      )
      if (wrong.length === 0) return null
      if (before?.v !== after?.v) return 'moving'
      const notes = wrong
        .slice(0, NOTED)
        .map(({ name, rows }) => `${name} is ${Number(counter(before, name))}, not ${rows}`)
      const note = [...notes, ...(wrong.length > NOTED ? [`${wrong.length - NOTED} more`] : [])].join('; ')
      return {
        faults: [{ kind: 'tally_wrong', key, note }],
        mend: () => set(key, before?.v, wrong),
      }
    }

  async function recounted(list: string, { date, facet }: Cell): Promise<number> {
    const bounds = { from: facetSort(facet, date), to: facetSort(facet, dayEnd(date)) }
    const within = (rows: readonly string[]) =>
      rows.filter((sk) => bounds.from <= sk && sk <= bounds.to).length
    let counted = within(unmended.missing.of(list)) - within(unmended.extra.of(list))
    for await (const page of partitionPages(table, list, bounds)) counted += page.length
    return counted
  }

  /** Sets counters, if nothing was counted since the tally had this version. */
  async function set(
    key: Key,
    version: unknown,
    counters: readonly { name: string; rows: number }[],
  ): Promise<void> {
    const named = counters.map(({ name, rows }, at) => ({ name, rows, at }))
    await table.transact([
      table.updateWrite(key, {
        UpdateExpression: `SET ${['#v = :next', ...named.map(({ at }) => `#${at} = :${at}`)].join(', ')}`,
        ConditionExpression: version === undefined ? 'attribute_not_exists(#v)' : '#v = :read',
        ExpressionAttributeNames: {
          '#v': 'v',
          ...Object.fromEntries(named.map(({ name, at }) => [`#${at}`, name])),
        },
        ExpressionAttributeValues: {
          ':next': (Number(version) || 0) + 1,
          ...(version !== undefined && { ':read': version }),
          ...Object.fromEntries(named.map(({ rows, at }) => [`:${at}`, rows])),
        },
      }),
    ])
  }

  return { check }
}

/** Counts a row of a sorted list, `facet#date#...`, in its month. */
function add(months: Map<string, Recount>, sk: string): void {
  const [facet = '', date = ''] = sk.split('#')
  const month = date.slice(0, 7)
  const recount: Recount = months.get(month) ?? new Map()
  const name = tallyAttribute(date, facet)
  const rows = (recount.get(name)?.rows ?? 0) + 1
  months.set(month, recount.set(name, { cell: { name, date, facet }, rows }))
}

/** The cells whose counter is not the recount: of either, since each may have some that the other lacks. */
function wrongCells(item: Item, recount: Recount): Cell[] {
  const cells = new Map([...recount].map(([name, { cell }]) => [name, cell]))
  for (const { date, counts } of daysOf(A_MONTH, item)) {
    for (const facet of counts.keys()) {
      const name = tallyAttribute(date, facet)
      cells.set(name, { name, date: item.sk + date.slice(A_MONTH.length), facet })
    }
  }
  return [...cells.values()].filter(({ name }) => counter(item, name) !== (recount.get(name)?.rows ?? 0))
}

/** A counter that went back to nothing stays as 0. */
const counter = (item: Item | undefined, name: string): unknown => item?.[name] ?? 0
