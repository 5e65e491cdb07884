/** Records of the API as lines of text. */

import type { ClinicContext } from '../tool/connection.ts'
import { formatTable } from '../tool/output.ts'
import { withAmountTexts } from './amount-text.ts'
import type { ResourceCommands } from './resource-commands.ts'

/** A line for each field. The parts of a list, such as line items, follow with a line each, under the names of their fields. */
export function describeRecord(record: object): string[] {
  const fields = Object.entries(withAmountTexts(record))
  const parts = fields.flatMap(([name, value]) => (isPartList(value) ? [[name, value] as const] : []))
  const rows = fields
    .filter(([, value]) => !isPartList(value))
    .map(([name, value]) => [name, describeValue(value)])
  return [
    ...formatTable(rows),
    ...parts.flatMap(([name, list]) => [`${name}:`, ...formatTable(partRows(list))]),
  ]
}

/** The names of the fields, then a row for each part. */
function partRows(list: readonly object[]): string[][] {
  const names = [...new Set(list.flatMap((part) => Object.keys(part)))]
  const rows = list.map((part) => {
    const values = new Map(Object.entries(part))
    return ['', ...names.map((name) => describeValue(values.get(name)))]
  })
  return [['', ...names], ...rows]
}

const isPartList = (value: unknown): value is readonly object[] =>
  Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'object')

function describeValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(describeValue).join(', ')
  if (typeof value === 'object') return Object.values(value).map(describeValue).join(' ')
  return String(value).replaceAll('\n', '\n  ')
}

/** A line for each record. */
export const recordTable = <Wire>(
  resource: Pick<ResourceCommands<Wire>, 'cells'>,
  records: readonly Wire[],
): string[] =>
  formatTable(records.map((record) => [(record as { id: string }).id, ...resource.cells(record)]))

/** A note on the timezone of the records' clock times, if the records do not contain it. */
export const clockNotes = <Wire>(
  { hasClockTimes }: Pick<ResourceCommands<Wire>, 'hasClockTimes'>,
  { clinic }: ClinicContext,
): string[] => (hasClockTimes ? [timesAreIn(clinic)] : [])

/** A sentence that names the timezone of a clinic's times. */
export const timesAreIn = ({ timezone }: ClinicContext['clinic']): string => `Times are in ${timezone}.`
