/** What a command prints of a response. */
import type { Command } from 'commander'
import { formatTable, type GlobalOptions, printLines } from '../tool/output.ts'
import { describeRecord, scheduleText, withAmountTexts } from '../tool/record-text.ts'

export type Body = { readonly data?: unknown; readonly meta?: object }

export type Page = {
  readonly data: readonly object[]
  readonly meta: {
    readonly total?: number
    readonly page?: number
    readonly total_pages?: number
    readonly next_after?: string | null
  }
}

/** Prints the records of a list, or one record. */
export function printBody(command: Command, body: Body | undefined): void {
  const { json } = command.optsWithGlobals<GlobalOptions>()
  const { data, meta, ...rest } = body ?? {}
  if (json) printLines(command, JSON.stringify(body ?? {}))
  else if (Array.isArray(data)) printLines(command, ...(data.length > 0 ? tableOf(data) : ['None']))
  else printLines(command, ...(body ? describeRecord({ ...rest, ...(data as object), ...meta }) : ['Done']))
}

/** The most columns of a table, with the id. */
const MAX_COLUMNS = 10

/** Fields that tables leave out: ids of other records, parts and long texts, and what other fields say. */
const HIDDEN =
  /_ids?$|^(updated_at|(first|last)_name|subtotal|(tax|discount)_amount|(line_)?items|message|data)$/

/** A line for each record, below the names of its fields: of those that have a value in a record. The time of creation comes last. */
export function tableOf(records: readonly object[]): string[] {
  const rows = records.map((record) => new Map(Object.entries(withAmountTexts(record))))
  const isShown = (name: string) => !HIDDEN.test(name) && rows.some((row) => cellOf(row.get(name)) !== '')
  const all = new Set(rows.flatMap((row) => [...row.keys()]).filter(isShown))
  if (all.delete('created_at')) all.add('created_at')
  const names = [...all].slice(0, MAX_COLUMNS)
  return formatTable([names, ...rows.map((row) => names.map((name) => cellOf(row.get(name))))])
}

/** A record that another one refers to is shown by its name. */
export function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(cellOf).join(', ')
  if (typeof value !== 'object') return String(value).replace(/\s+/g, ' ')
  const { full_name: fullName, name, number, id } = value as Readonly<Record<string, unknown>>
  const schedule = scheduleText(value)
  return schedule ?? String(fullName ?? name ?? number ?? id ?? Object.values(value).map(cellOf).join('-'))
}
