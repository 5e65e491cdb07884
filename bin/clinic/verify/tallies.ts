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

/** One counter's cell and attribute name. */
type Cell = { readonly name: string; readonly date: string; readonly facet: string }

/** Row counts of one month, by the name of the cell's counter. */
type Recount = Map<string, { readonly cell: Cell; readonly rows: number }>

/** Fallback for a sort key that is not a month: readers count the item anyway. */
const SAMPLE_MONTH = '2000-01'

/** Maximum number of counters in a note: a lost month would fill the screen. */
const MAX_NOTED = 5

/** Verifies the rows of the clinic's or a doctor's list, and its tallies against a recount. */
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

  /** Reads the counters before and after the rows: if nothing was counted in between, they must agree. */
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

  /** Sets counters, on condition that the tally still has this version. */
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

/** The cells whose counter differs from the recount, including cells that only one of them has. */
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

/** A counter that drops to zero stays as 0. */
const counter = (item: Item | undefined, name: string): unknown => item?.[name] ?? 0
