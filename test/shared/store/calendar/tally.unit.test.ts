import { expect, it } from 'vitest'
import { readTallies } from '../../../../shared/store/calendar/tally.ts'
import type { Table } from '../../../../shared/store/table/table.ts'

/** A month's item with a record on the 10th (A) and one on the 20th (K). */
const month = (sk: string) => ({ pk: 'p', sk, As: 1, Ks: 1 })

it.each<[from: string | undefined, to: string | undefined, dates: string[]]>([
  [undefined, undefined, ['2026-05-20', '2026-05-10', '2026-04-20', '2026-04-10']],
  ['2026-04-15', undefined, ['2026-05-20', '2026-05-10', '2026-04-20']],
  [undefined, '2026-05-15', ['2026-05-10', '2026-04-20', '2026-04-10']],
  ['2026-04-20', '2026-05-10', ['2026-05-10', '2026-04-20']],
])('lists the days from %s to %s only, although it reads whole months', async (from, to, dates) => {
  const items = [month('2026-05'), month('2026-04')]
  const table = { query: async () => items } as unknown as Table
  const { days } = await readTallies(table, 'p', { from, to })
  expect(days.map(({ date }) => date)).toEqual(dates)
})
