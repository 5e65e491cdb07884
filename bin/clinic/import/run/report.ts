/** The reconciliation of a file, without personal data, so that the operator can forward it. */
import { basename } from 'node:path'
import { quoted } from '../../../../shared/domain/closest-name.ts'
import { counted } from '../../tool/output.ts'
import { listed } from '../files/field-names.ts'
import type { ImportResult, ReadColumn } from './import-file.ts'
import type { LineItemFiles } from './line-items.ts'
import type { MoneySum } from './money-sums.ts'
import type { StatedPaid } from './unpaid-invoices.ts'

/** Reasons that are counted separately, and lines that are named for each. */
const MAX_REASONS = 100
const MAX_LINES = 10

type Group = { readonly text: string; count: number; readonly lines: number[] }

/** Counts texts, with the lines of the first rows that each concerns. */
export class GroupedTexts {
  readonly #groups = new Map<string, Group>()

  add(text: string, line: number): void {
    const kind = withoutValues(text)
    const known = this.#groups.get(kind)
    const isFull = !known && this.#groups.size >= MAX_REASONS
    const key = isFull ? 'other reasons' : kind
    const group = this.#groups.get(key) ?? { text: key, count: 0, lines: [] }
    group.count++
    if (group.lines.length < MAX_LINES) group.lines.push(line)
    this.#groups.set(key, group)
  }

  /** The most frequent first. */
  get groups(): readonly Readonly<Group>[] {
    return [...this.#groups.values()].sort((a, b) => b.count - a.count)
  }
}

/** A reason without what differs from row to row: ids, lines of other rows, amounts, and working hours. */
const withoutValues = (reason: string): string =>
  reason
    .replace(/ [0-9a-f]{8}-[0-9a-f-]{27}/g, '')
    .replace(/ on line \d+/g, ' on an earlier line')
    .replace(/ is -?[\d.]+, but (.*?) -?[\d.]+(?=;|$)/g, ' is not what $1')
    .replace(/(hours|breaks) ".*?":.*?(?=;|$)/g, '$1 are not as documented')

export type FileReport = ImportResult & {
  readonly file: string
  readonly entity: string
  /** Several rows can be one record. */
  readonly rows: { readonly read: number; readonly records: number; readonly rejected: number }
  readonly encoding: string
  readonly delimiter: string | null
  readonly columns: readonly ReadColumn[]
  readonly sums: readonly MoneySum[]
  readonly reasons: readonly Readonly<Group>[]
  readonly warned: readonly Readonly<Group>[]
  /** Rows that were imported without values that are invalid. */
  readonly left_out: number
  /** Appointments to come that were imported although their doctor does not work then. */
  readonly appointments_outside: number
  /** The files of rows to correct. */
  readonly corrections: readonly string[]
}

const number = (value: number): string => value.toLocaleString('en')

/** The reconciliation of a file, for a person. */
export function reportLines(report: FileReport): string[] {
  const { file, entity, rows, encoding, delimiter, columns, sums, reasons, warned, left_out } = report
  const separated =
    delimiter === null ? '' : `, columns separated by ${delimiter === '\t' ? 'tabs' : delimiter}`
  const read = columns.filter(({ fields }) => fields.length > 0)
  const ignored = columns.filter(({ fields }) => fields.length === 0).map(({ column }) => column)
  return [
    `${file}: ${entity}, ${encoding}${separated}`,
    `  ${number(rows.read)} rows read: ${number(rows.records)} become records, ${number(rows.rejected)} rejected` +
      (left_out > 0 ? `, ${number(left_out)} with values that are left out` : ''),
    `  records: ${countsText(report)}`,
    ...sums.map(
      ({ field, currency, records, rejected }) =>
        `  sum of ${field}: ${records}${currency === null ? '' : ` ${currency}`}, ${rejected} in rejected rows`,
    ),
    ...read.map(
      ({ column, fields, cells }) => `  column ${quoted([column])}: ${listed(fields)}${cellsText(cells)}`,
    ),
    ...(ignored.length > 0 ? [`  ignored: ${quoted(ignored)}`] : []),
    ...reasons.map((group) => `  rejected: ${groupText(group)}`),
    ...warned.map((group) => `  warning: ${groupText(group)}`),
  ]
}

function cellsText(cells: ReadColumn['cells']): string {
  const texts = Object.entries(cells).map(([how, count]) => `${number(count)} ${how}`)
  return texts.length > 0 ? ` (${texts.join(', ')})` : ''
}

const groupText = ({ text, count, lines }: Group): string =>
  `${number(count)} x ${text} (${placesText(count, lines)})`

const placesText = (count: number, lines: readonly number[]): string =>
  count > lines.length
    ? `lines ${lines.join(', ')}, ...`
    : `${lines.length > 1 ? 'lines' : 'line'} ${listed(lines)}`

export const countsText = ({ imported, updated, unchanged, rejected, warnings }: ImportResult): string =>
  `${imported} imported, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected` +
  (warnings > 0 ? `, ${counted(warnings, 'warning')}` : '')

/** The warning about line items in files of their own whose invoices were not imported. */
export const itemsLeftLines = ({ count, lines }: ReturnType<LineItemFiles['withoutInvoice']>): string[] =>
  count === 0
    ? []
    : [
        `warning: the line items of ${counted(count, 'invoice')} were not imported, as the files have no such invoice, or its row was rejected (${placesText(count, lines)})`,
      ]

/** The warning about invoices that are paid by their file, once all files are in. */
export function unpaidLines({ count, places }: Awaited<ReturnType<StatedPaid['withoutPayments']>>): string[] {
  if (count === 0) return []
  const where = places.map(({ file, line }) => `${basename(file)}:${line}`).join(', ')
  const more = count > places.length ? ', ...' : ''
  return [
    `warning: ${counted(count, 'invoice')} with the status paid ${count > 1 ? 'have' : 'has'} no payments (${where}${more}): import the payments, too`,
  ]
}

/** The warning about appointments at which their doctor does not work. */
export const outsideLines = (count: number, clinic: string): string[] =>
  count === 0
    ? []
    : [
        `warning: ${counted(count, 'appointment')} to come ${count > 1 ? 'are' : 'is'} outside working hours. Imported appointments are listed by "appointment list --clinic ${clinic} --outside-hours true", with --date-from and --date-to`,
      ]
