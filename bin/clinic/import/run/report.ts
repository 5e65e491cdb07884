/** The reconciliation of a file, without personal data, so that the operator can forward it. */
import { basename } from 'node:path'
import { quoted } from '../../../../shared/domain/closest-name.ts'
import { counted } from '../../tool/output.ts'
import type { ReadColumn } from '../converters/file-columns.ts'
import { groupText, placesText } from '../files/grouped-texts.ts'
import type { ConvertedFile } from './conversions.ts'
import type { ImportedFile, ImportResult } from './import-file.ts'

export type FileReport = ImportedFile & {
  readonly file: string
  readonly entity: string
  /** The files of rows to correct. */
  readonly corrections: readonly string[]
}

const number = (value: number): string => value.toLocaleString('en')

/** The reconciliation of a file, for a person. */
export function reportLines(report: FileReport): string[] {
  const { file, entity, rows, sums, reasons, warned } = report
  return [
    `${file}: ${entity}`,
    `  rows: ${number(rows.records)} become records, ${number(rows.rejected)} rejected`,
    `  records: ${countsText(report)}`,
    ...sums.map(
      ({ field, currency, records, rejected }) =>
        `  sum of ${field}: ${records}${currency === null ? '' : ` ${currency}`}, ${rejected} in rejected rows`,
    ),
    ...reasons.map((group) => `  rejected: ${groupText(group)}`),
    ...warned.map((group) => `  warning: ${groupText(group)}`),
  ]
}

/** How a file was read, for a program. */
export const conversionReport = ({ file, format, rows, columns }: ConvertedFile) => ({
  file,
  rows: { read: rows.read, without_records: rows.withoutRecords.length },
  encoding: format.encoding,
  delimiter: format.kind === 'csv' ? format.delimiter : null,
  columns,
})

/** How a file was read, for a person. */
export function conversionLines({ file, format, rows, columns }: ConvertedFile): string[] {
  const { read, withoutRecords } = rows
  const without = `, ${number(withoutRecords.length)} without records (${placesText(withoutRecords)})`
  return [
    `${basename(file)}, ${format.encoding}${format.kind === 'csv' ? `, columns separated by ${format.delimiter === '\t' ? 'tabs' : format.delimiter}` : ''}`,
    `  ${number(read)} rows read${withoutRecords.length > 0 ? without : ''}`,
    ...columnLines(columns),
  ]
}

function columnLines(columns: readonly ReadColumn[]): string[] {
  const named = (what: string, isIgnored: boolean): string[] => {
    const names = columns.filter((one) => one.is_ignored === isIgnored).map(({ column }) => column)
    return names.length > 0 ? [`  ${what}: ${quoted(names)}`] : []
  }
  return [
    ...named('read', false),
    ...named('ignored', true),
    ...columns.flatMap(({ column, cells }) => {
      const counts = Object.entries(cells).map(([how, count]) => `${number(count)} ${how}`)
      return counts.length > 0 ? [`  column ${quoted([column])}: ${counts.join(', ')}`] : []
    }),
  ]
}

export const countsText = ({ imported, updated, unchanged, rejected, warnings }: ImportResult): string =>
  `${imported} imported, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected` +
  (warnings > 0 ? `, ${counted(warnings, 'warning')}` : '')

/** The warning about line items in files of their own whose invoices were not imported. */
export const itemsLeftLines = (lines: readonly number[]): string[] =>
  lines.length === 0
    ? []
    : [
        `warning: the line items of ${counted(lines.length, 'invoice')} were not imported, as the files have no such invoice (${placesText(lines)})`,
      ]
