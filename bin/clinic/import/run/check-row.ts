/** Reads rows of a file as a map says, and checks them without the table. */
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { quoted, suggestion } from '../../../../shared/domain/closest-name.ts'
import type { ImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { type CheckedRecord, recordChecker } from '../../../../shared/sync/check-record.ts'
import type { ImportEntity } from '../../../../shared/sync/entities/entity.ts'
import { issueText } from '../../../../shared/sync/outcomes/row-rejected.ts'
import type { SourceRow } from '../files/row.ts'
import type { MappedRow, RowMap } from '../maps/row-map.ts'
import type { Aliases } from './aliases.ts'

export type CheckedRow<Fields> = Partial<Pick<MappedRow, 'notes'>> &
  (
    | Extract<CheckedRecord<Fields>, { row: unknown }>
    | {
        readonly reasons: readonly string[]
        /** The id of the record, if the row has one. */
        readonly id?: string
        /** The fields of the row, if it can be read. */
        readonly fields?: Readonly<Record<string, unknown>>
      }
  )

const NO_COUNTRY = ', or a country in the map'
const NO_ROW_ABOVE = ': no row above has one'

export function rowChecker<Fields>(
  entity: ImportEntity<Fields>,
  clinic: ClinicInfo,
  now: number,
  idOf: ImportIds,
  map: RowMap,
  aliases?: Aliases,
) {
  const check = recordChecker(entity, clinic, now, idOf, map.optional)
  return (source: SourceRow): CheckedRow<Fields> => {
    if ('problem' in source) return { reasons: [source.problem] }
    const names = Object.keys(source.values)
    const further = source.further ?? []
    const mapped = map.read(
      source.values,
      further.flatMap((one) => ('values' in one ? [one.values] : [])),
    )
    const { notes } = mapped
    const { external_id, id, ...given } = mapped.fields as Record<string, unknown>
    if (external_id != null && map.aliasesOf)
      aliases?.add(entity.name, String(external_id).trim(), map.aliasesOf(source.values))
    const { fields, problems: ambiguous } = resolved(given, aliases)
    const problems = new Map([...mapped.problems, ...ambiguous])
    const checked = check({ fields: { ...fields, external_id, id }, line: source.line, problems })
    const unread = [
      ...map
        .unknownNames(names)
        .map(
          (name) => `unknown field ${quoted([name])}${suggestion(name, ['external_id', ...entity.columns])}`,
        ),
      ...map
        .repeatedNames(names)
        .map(({ name, earlier }) => `${quoted([name])} is the same field as ${quoted([earlier])}`),
      ...further.flatMap((row) => ('problem' in row ? [`line ${row.line} ${row.problem}`] : [])),
    ]
    if ('row' in checked && unread.length === 0) return { ...checked, notes }
    const reasons =
      'row' in checked ? unread : [...unread, ...checked.issues.map(issueText).map(explained(map))]
    const recordId = 'row' in checked ? checked.row.id : checked.id
    return { reasons, ...(recordId !== undefined && { id: recordId }), fields, notes }
  }
}

/** A reason with what a map could do about it. */
const explained =
  (map: RowMap) =>
  (reason: string): string => {
    if (reason === 'external_id is required' && map.recordOf !== null) return reason + NO_ROW_ABOVE
    return map.country === undefined && reason.startsWith('phone_number') ? reason + NO_COUNTRY : reason
  }
/** Fields with the external ids of records that they name by aliases, and which of them are ambiguous. */
function resolved(given: Readonly<Record<string, unknown>>, aliases: Aliases | undefined) {
  const fields: Record<string, unknown> = { ...given }
  const problems = new Map<string, string>()
  if (!aliases) return { fields, problems }
  for (const [field, value] of Object.entries(given)) {
    if (field === 'line_items' && Array.isArray(value) && value.every((item) => item instanceof Object)) {
      const items = value.map((item) => resolved(item, aliases))
      fields[field] = items.map((item) => item.fields)
      for (const [name, problem] of items.flatMap((item) => [...item.problems]))
        problems.set(`line_items.${name}`, problem)
    }
    const [, kind] = /^(\w+)_external_id$/.exec(field) ?? []
    if (kind === undefined || typeof value !== 'string') continue
    const found = aliases.resolve(`${kind}s`, value)
    if (found === null) problems.set(field, `names several ${kind}s of the files`)
    else fields[field] = found
  }
  return { fields, problems }
}
