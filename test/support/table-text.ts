import { zstdDecompressSync } from 'node:zlib'
import { allItems, type Scanner } from './all-items.ts'
import type { TestTable } from './table.ts'

/** Everything that a table holds, a line of JSON in lower case for each item, compressed search segments included. See `allItems`. */
export async function tableText(table: TestTable, client?: Scanner): Promise<string> {
  const items = await allItems(table, client)
  const segments = Map.groupBy(
    items.filter(({ data }) => data instanceof Uint8Array),
    ({ pk }) => pk,
  )
  const texts = [...segments.values()].map((parts) => {
    const ordered = parts.toSorted((a, b) => (a.sk < b.sk ? -1 : 1))
    // Fails for a leftover of a larger segment, which could hold anything.
    return zstdDecompressSync(Buffer.concat(ordered.map(({ data }) => data as Uint8Array))).toString()
  })
  const rest = items.filter(({ data }) => !(data instanceof Uint8Array))
  return [...rest.map((item) => sortedJson(item)), ...texts].join('\n').toLowerCase()
}

/** The engine returns attributes in any order. */
export const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
