/** What a check found in a file, without any personal data, so that the person who checks can send it on. */
import { listed } from './field-names.ts'
import type { Group } from './grouped-texts.ts'
import type { ImportResult } from './import-file.ts'
import type { FileFormat } from './row.ts'

export type FileReport = {
  readonly file: string
  readonly entity: string
  readonly rows: number
  readonly encoding: string
  readonly delimiter: string | null
  readonly reasons: readonly Readonly<Group>[]
  readonly warned: readonly Readonly<Group>[]
}

export const formatFields = (format: FileFormat) => ({
  encoding: format.encoding,
  delimiter: format.kind === 'csv' ? format.delimiter : null,
})

const number = (value: number): string => value.toLocaleString('en')

/** The lines of a report for a person. */
export function reportLines(report: FileReport & ImportResult): string[] {
  const { file, entity, rows, encoding, delimiter, reasons, warned } = report
  const separated =
    delimiter === null ? '' : `, columns separated by ${delimiter === '\t' ? 'tabs' : delimiter}`
  return [
    `${file}: ${number(rows)} rows of ${entity}, ${encoding}${separated}`,
    `  would be ${countsText(report)}`,
    ...reasons.map((group) => `  rejected: ${groupText(group)}`),
    ...warned.map((group) => `  warning: ${groupText(group)}`),
  ]
}

function groupText({ text, count, lines }: Group): string {
  const more =
    count > lines.length
      ? `lines ${lines.join(', ')}, ...`
      : `${lines.length > 1 ? 'lines' : 'line'} ${listed(lines)}`
  return `${number(count)} x ${text} (${more})`
}

export const countsText = ({ imported, updated, unchanged, rejected, warnings }: ImportResult): string =>
  `${imported} imported, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected` +
  (warnings > 0 ? `, ${warnings} ${warnings > 1 ? 'warnings' : 'warning'}` : '')
