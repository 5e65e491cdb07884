/** The text of rejected rows, with their reasons. */
import { quoteFor } from './csv-cells.ts'
import { foldedName } from './field-names.ts'
import type { FileFormat, SourceRow } from './row.ts'

/** The names that the column that is added can have: the second one in files whose own column `reason` is read. */
export const REASONS = ['reason', 'rejected_because'] as const

type Reason = (typeof REASONS)[number]

type Csv = FileFormat & { readonly kind: 'csv' }

/** The positions of the columns other than that of an earlier rejection. */
const keptColumns = ({ header }: Csv, reason: Reason): number[] =>
  [...header.keys()].filter((at) => foldedName(header[at] ?? '') !== reason)

/** The first lines of a file of rejected rows. */
export function csvHead(format: Csv, reason: Reason): string {
  const { delimiter, header, hasSeparatorLine } = format
  const names = [...keptColumns(format, reason).map((at) => header[at] ?? ''), reason]
  return `${hasSeparatorLine ? `sep=${delimiter}\n` : ''}${names.map(quoteFor(delimiter)).join(delimiter)}\n`
}

/** A row that cannot be read is in the first column as it is: no other value must get into a column that it was not in. */
export function csvLine(format: Csv, name: Reason): (row: SourceRow, reason: string) => string {
  const { delimiter } = format
  const quoted = quoteFor(delimiter)
  const kept = keptColumns(format, name)
  return ({ cells, text = '' }, reason) => {
    const values = kept.map((at, index) => (cells ? (cells[at] ?? '') : index === 0 ? text : ''))
    return `${[...values, reason].map(quoted).join(delimiter)}\n`
  }
}

const earlierReason = (name: Reason): RegExp =>
  new RegExp(`,\\s*"${name}"\\s*:\\s*"(?:[^"\\\\]|\\\\.)*"\\s*\\}$`)

/** The text of the row with the reason as its last field: numbers stay as they are written. */
export function jsonLine(name: Reason): (row: SourceRow, reason: string) => string {
  const earlier = earlierReason(name)
  return ({ text = '', ...row }, reason) => {
    const added = `"${name}":${JSON.stringify(reason)}}`
    const object = text.trim().replace(earlier, '}')
    if (!('values' in row)) return `{"text":${JSON.stringify(text)},${added}\n`
    return `${object.slice(0, -1)}${/^\{\s*\}$/.test(object) ? '' : ','}${added}\n`
  }
}
