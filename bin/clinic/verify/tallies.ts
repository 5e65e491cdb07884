import { tallyAttribute, toDayTallies } from '../../../shared/store/calendar/tally.ts'
import {
  calendarListPartition,
  dayEnd,
  facetSortKey,
  tallyPartition,
} from '../../../shared/store/keys/calendar.ts'
import type { Key } from '../../../shared/store/keys/key.ts'
import type { Item } from '../../../shared/store/table/table.ts'
import type { Recheck } from './fault.ts'
import { forEachConcurrent } from './for-each-concurrent.ts'
import type { Inspection } from './inspection.ts'
import { listedRowChecker } from './listed-rows.ts'
import { partitionPages } from './partition-pages.ts'
import type { RecordKind } from './record-kinds.ts'
import type { UnrepairedRows } from './unrepaired-rows.ts'

/** What one counter counts, and its name. */
type Cell = { readonly name: string; readonly date: string; readonly facet: string }

/** How many rows there are of each cell, by its counter's name; for one month. */
type Recount = Map<string, { readonly cell: Cell; readonly rows: number }>

/** Stands for whatever an item is kept under: readers count it, though it be no month. */
const SAMPLE_MONTH = '2000-01'

/** Counters that a note names; a month lost whole would fill the screen. */
const MAX_NOTED = 5

/** Whether the rows of the clinic's or a doctor's list belong there, and its tallies are what a recount gives. */
export function tallyChecker<R>(inspection: Inspection, kind: RecordKind<R>, unrepaired: UnrepairedRows) {
  const { table, clinic, count, examine } = inspection
  const { letter } = kind.entity
  const rows = listedRowChecker(inspection, kind, unrepaired)

  async function check(doctor: string | null): Promise<void> {
    const list = calendarListPartition(clinic, letter, doctor)
    const tallies = tallyPartition(clinic, letter, doctor)
    const months = new Map<string, Recount>()
    await rows.check(list, ({ sk }) => countRow(months, sk))
    for (const sk of unrepaired.missing.of(list)) countRow(months, sk)
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
    await forEachConcurrent(
      suspects.filter(([, cells]) => cells.length > 0),
      ([month, cells]) => examine(recheck(list, { pk: tallies, sk: month }, cells)),
    )
  }

  /** The counters are read before and after their rows: while nothing was counted, they must agree. */
  const recheck =
    (list: string, key: Key, cells: readonly Cell[]): Recheck =>
    async () => {
      const before = await table.get(key)
      const recounts = await Promise.all(
        cells.map(async (cell) => ({ name: cell.name, rows: await recountCell(list, cell) })),
      )
      const after = await table.get(key)
      const wrong = recounts.filter(
        ({ name, rows }) => counter(before, name) !== rows || counter(after, name) !== rows,
      )
      if (wrong.length === 0) return null
      if (before?.v !== after?.v) return 'moving'
      const notes = wrong
        .slice(0, MAX_NOTED)
        .map(({ name, rows }) => `${name} is ${Number(counter(before, name))}, not ${rows}`)
      const note = [...notes, ...(wrong.length > MAX_NOTED ? [`${wrong.length - MAX_NOTED} more`] : [])].join(
        '; ',
      )
      return {
        faults: [{ kind: 'tally_wrong', key, note }],
        repair: () => setCounters(key, before?.v, wrong),
      }
    }

  async function recountCell(list: string, { date, facet }: Cell): Promise<number> {
    const bounds = { from: facetSortKey(facet, date), to: facetSortKey(facet, dayEnd(date)) }
    const within = (rows: readonly string[]) =>
      rows.filter((sk) => bounds.from <= sk && sk <= bounds.to).length
    let counted = within(unrepaired.missing.of(list)) - within(unrepaired.extra.of(list))
    for await (const page of partitionPages(table, list, bounds)) counted += page.length
    return counted
  }

  /** Sets counters, if nothing was counted since the tally had this version. */
  async function setCounters(
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
function countRow(months: Map<string, Recount>, sk: string): void {
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
  for (const { date, counts } of toDayTallies(SAMPLE_MONTH, item)) {
    for (const facet of counts.keys()) {
      const name = tallyAttribute(date, facet)
      cells.set(name, { name, date: item.sk + date.slice(SAMPLE_MONTH.length), facet })
    }
  }
  return [...cells.values()].filter(({ name }) => counter(item, name) !== (recount.get(name)?.rows ?? 0))
}

/** A counter that went back to nothing stays as 0. */
const counter = (item: Item | undefined, name: string): unknown => item?.[name] ?? 0
