/** Checks rows without the table: whether each field is valid, and what looks wrong but is possible. */
import type * as z from 'zod'
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import type { ImportIds } from '../../../../shared/store/external-ids/derive.ts'
import type { ImportEntity, ImportRow } from '../../../../shared/sync/entities/entity.ts'
import {
  ExternalRef,
  ownIdColumn,
  parseOwnId,
  refIds,
  withOwnIds,
} from '../../../../shared/sync/external-ids/resolve-references.ts'
import { type Warning, warningsOf } from '../../../../shared/sync/outcomes/warnings.ts'
import { quoted, suggestion } from '../files/field-names.ts'
import type { SourceRow } from '../files/row.ts'
import type { MappedRow, RowMap } from '../maps/row-map.ts'
import type { Aliases } from './aliases.ts'

export type CheckedRow<Fields> = Partial<Pick<MappedRow, 'notes'>> &
  (
    | {
        readonly row: ImportRow<Fields>
        readonly warnings: readonly Warning[]
        /** Why values were left out. */
        readonly leftOut: readonly string[]
      }
    | {
        readonly reasons: readonly string[]
        /** The id of the record, if the row has one. */
        readonly id?: string
        /** The fields of the row, if it can be read. */
        readonly fields?: Readonly<Record<string, unknown>>
      }
  )

const NO_COUNTRY = ', or a country in the map'

/** How far the clock of another system can be ahead. */
const CLOCK_DIFFERENCE_MS = 60_000

export function rowChecker<Fields>(
  entity: ImportEntity<Fields>,
  clinic: ClinicInfo,
  now: number,
  idOf: ImportIds,
  map: RowMap,
  aliases?: Aliases,
) {
  const schema = entity.schema(clinic, now, refIds(idOf))
  return (source: SourceRow): CheckedRow<Fields> => {
    if ('problem' in source) return { reasons: [source.problem] }
    const names = Object.keys(source.values)
    const unknown = map.unknownNames(names)
    const further = source.further ?? []
    const {
      fields: mapped,
      problems: unconverted,
      notes,
    } = map.read(
      source.values,
      further.flatMap((one) => ('values' in one ? [one.values] : [])),
    )
    const { external_id, id, ...given } = mapped as Record<string, unknown>
    if (external_id != null && map.aliasesOf)
      aliases?.add(entity.name, String(external_id).trim(), map.aliasesOf(source.values))
    const { fields: rest, problems: ambiguous } = resolved(given, aliases)
    const problems = new Map([...unconverted, ...ambiguous])
    const identity = identify(external_id, id, map.recordOf !== null)
    const unreadable = map.optional.filter((field) => problems.has(field))
    const leftOut = new Map(unreadable.map((field) => [field, `${field} ${problems.get(field)}`]))
    let own = withOwnIds(rest, entity.columns)
    let fields = schema.safeParse(own.fields)
    for (const issue of fields.error?.issues ?? []) {
      const field = String(issue.path[0])
      if (map.optional.includes(field) && rest[field] != null)
        leftOut.set(field, issueText(own.fields)(issue))
    }
    if (leftOut.size > 0) {
      for (const field of leftOut.keys()) delete rest[field]
      own = withOwnIds(rest, entity.columns)
      fields = schema.safeParse(own.fields)
    }
    const reasons = [
      ...unknown.map(
        (name) => `unknown field ${quoted([name])}${suggestion(name, ['external_id', ...entity.columns])}`,
      ),
      ...map
        .repeatedNames(names)
        .map(({ name, earlier }) => `${quoted([name])} is the same field as ${quoted([earlier])}`),
      ...[...problems]
        .filter(([field]) => !leftOut.has(field))
        .map(([field, problem]) => `${field} ${problem}`),
      ...further.flatMap((row) => ('problem' in row ? [`line ${row.line} ${row.problem}`] : [])),
      ...(identity.issues ?? []),
      ...own.issues,
      ...(fields.error?.issues ?? [])
        .filter(({ path }) => !problems.has(path.filter((step) => typeof step === 'string').join('.')))
        .map(issueText(own.fields))
        .map((text) =>
          map.country === undefined && text.startsWith('phone_number') ? text + NO_COUNTRY : text,
        ),
      ...(fields.success && isInFuture(rest.created_at, now) ? ['created_at is in the future'] : []),
    ]
    if (identity.issues) return { reasons, fields: rest, notes }
    const recordId = identity.id ?? idOf(entity.idKind, identity.externalId)
    if (reasons.length > 0 || !fields.success) return { reasons, id: recordId, fields: rest, notes }
    return {
      row: {
        id: recordId,
        // An export names a record without an external id by its own id.
        externalId:
          parseOwnId(identity.externalId) === recordId ? undefined : identity.externalId?.normalize(),
        source: rest,
        columnOf: (name) => (rest[ownIdColumn(name)] == null ? name : ownIdColumn(name)),
        line: source.line,
        fields: fields.data,
      },
      warnings: warningsOf(rest, now),
      leftOut: [...leftOut.values()],
      notes,
    }
  }
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

const isInFuture = (value: unknown, now: number): boolean =>
  typeof value === 'string' && Date.parse(value.trim()) > now + CLOCK_DIFFERENCE_MS

const issueText =
  (row: Record<string, unknown>) =>
  (issue: z.core.$ZodIssue): string => {
    const value = issue.path.reduce<unknown>(
      (at, name) => (at as Record<PropertyKey, unknown> | undefined)?.[name],
      row,
    )
    const name = issue.path.join('.')
    if (issue.code === 'unrecognized_keys')
      return `${name === '' ? '' : `${name} has the `}unknown field ${quoted(issue.keys)}`
    return value == null && issue.code !== 'custom' ? `${name} is required` : `${name} ${issue.message}`
  }

/** The record that a row is, or what is wrong with its ids. */
type Identity =
  | { readonly id: string; readonly externalId: undefined; readonly issues?: never }
  | { readonly id?: never; readonly externalId: string; readonly issues?: never }
  | { readonly issues: readonly string[] }

/** A row has the external id of its record, or the record's own id. */
function identify(externalId: unknown, id: unknown, isGrouped: boolean): Identity {
  if (id == null) {
    const { data, error } = ExternalRef.safeParse(externalId)
    if (!error) return { externalId: data }
    const issues = error.issues.map(({ message }) =>
      externalId == null
        ? `external_id is required${isGrouped ? ': no row above has one' : ''}`
        : `external_id ${message}`,
    )
    return { issues }
  }
  if (externalId != null) return { issues: ['external_id and id are both given; leave one empty'] }
  const own = parseOwnId(id)
  return own === null ? { issues: ['id must be the id of a record'] } : { id: own, externalId: undefined }
}
