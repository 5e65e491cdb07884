import { readFileSync } from 'node:fs'
import { documentationTables } from '../../shared/api/openapi/documentation-tables.ts'

/** The documents that contain generated tables. */
export const DOCUMENTS = ['README.md', 'docs/api.md', 'docs/webhooks.md'] as const

/** A table between its markers, `<!-- table: NAME -->` and `<!-- end of table -->`. */
const TABLE = /(<!-- table: (\w+) -->)[\s\S]*?(<!-- end of table -->)/g

/**
 * The text of a document with its tables as the contracts have them.
 * @throws Error for a marker that names no table
 */
export function withCurrentTables(file: string): string {
  const tables = documentationTables()
  return readFileSync(file, 'utf8').replace(TABLE, (_all, start: string, name: string, end: string) => {
    if (tables[name] === undefined) throw new Error(`${file} has a marker for an unknown table: ${name}.`)
    return `${start}\n\n${tables[name]}\n\n${end}`
  })
}
