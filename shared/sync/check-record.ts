/** Checks records without the table: whether each field is valid, and what looks wrong but is possible. */
import type * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import { foldName, quoted, suggestion } from '../domain/closest-name.ts'
import type { ImportIds } from '../store/external-ids/derive.ts'
import type { ImportEntity, ImportRow } from './entities/entity.ts'
import {
  ExternalRef,
  ownIdColumn,
  parseOwnId,
  refIds,
  withOwnIds,
} from './external-ids/resolve-references.ts'
import type { RowIssue } from './outcomes/row-rejected.ts'
import { type Warning, warningsOf } from './outcomes/warnings.ts'

/** A record as the clinic's own system has it, with the fields of its entity. */
export type GivenRecord = {
  readonly fields: Readonly<Record<string, unknown>>
  /** Its position in its file or request. */
  readonly line: number
}

export type CheckedRecord<Fields> =
  | {
      readonly row: ImportRow<Fields>
      readonly warnings: readonly Warning[]
    }
  | {
      readonly issues: readonly RowIssue[]
      /** The id of the record, if it has one. */
      readonly id?: string
    }

/** Fields whose values are codes, such as `no_show`, which people also write as `No show`. */
const CODES = new Set(['gender', 'status', 'type', 'payment_method', 'channel'])

/** How far the clock of another system can be ahead. */
const CLOCK_DIFFERENCE_MS = 60_000

export function recordChecker<Fields>(
  entity: ImportEntity<Fields>,
  clinic: ClinicInfo,
  now: number,
  idOf: ImportIds,
) {
  const schema = entity.schema(clinic, now, refIds(idOf))

  return ({ fields: given, line }: GivenRecord): CheckedRecord<Fields> => {
    const { external_id, id, ...rest }: Record<string, unknown> = given
    for (const [field, value] of Object.entries(rest))
      if (CODES.has(field) && typeof value === 'string') rest[field] = foldName(value)
    const identity = identify(external_id, id)
    const own = withOwnIds(rest, entity.columns)
    const fields = schema.safeParse(own.fields)
    const issues = [
      ...(identity.issues ?? []),
      ...own.issues,
      ...(fields.error?.issues ?? []).flatMap(issuesOf(own.fields, entity)),
      ...(fields.success && isInFuture(rest.created_at, now)
        ? [{ field: 'created_at', issue: 'is in the future' }]
        : []),
    ]
    if (identity.issues) return { issues }
    const recordId = identity.id ?? idOf(entity.idKind, identity.externalId)
    if (issues.length > 0 || !fields.success) return { issues, id: recordId }
    return {
      row: {
        id: recordId,
        // An export names a record without an external id by its own id.
        externalId:
          parseOwnId(identity.externalId) === recordId ? undefined : identity.externalId?.normalize(),
        source: rest,
        columnOf: (name) => (rest[ownIdColumn(name)] == null ? name : ownIdColumn(name)),
        line,
        fields: fields.data,
      },
      warnings: warningsOf(rest, now),
    }
  }
}

const isInFuture = (value: unknown, now: number): boolean =>
  typeof value === 'string' && Date.parse(value.trim()) > now + CLOCK_DIFFERENCE_MS

const issuesOf =
  (row: Record<string, unknown>, { columns }: Pick<ImportEntity, 'columns'>) =>
  (issue: z.core.$ZodIssue): RowIssue[] => {
    const value = issue.path.reduce<unknown>(
      (at, name) => (at as Record<PropertyKey, unknown> | undefined)?.[name],
      row,
    )
    const field = issue.path.join('.')
    if (issue.code === 'unrecognized_keys' && field === '')
      return issue.keys.map((key) => ({
        field: key,
        issue: `is not a known field${suggestion(key, columns)}`,
      }))
    if (issue.code === 'unrecognized_keys')
      return [{ field, issue: `has the unknown field ${quoted(issue.keys)}` }]
    if (value == null && issue.code !== 'custom') return [{ field, issue: 'is required' }]
    const isChoice = issue.code === 'invalid_value' && typeof value === 'string'
    const meant = isChoice ? suggestion(value, issue.values.map(String)) : ''
    return [{ field, issue: issue.message + meant }]
  }

/** The record that a row is, or what is wrong with its ids. */
type Identity =
  | { readonly id: string; readonly externalId: undefined; readonly issues?: never }
  | { readonly id?: never; readonly externalId: string; readonly issues?: never }
  | { readonly issues: readonly RowIssue[] }

/** A row has the external id of its record, or the record's own id. */
function identify(externalId: unknown, id: unknown): Identity {
  if (id == null) {
    const { data, error } = ExternalRef.safeParse(externalId)
    if (!error) return { externalId: data }
    const issues = error.issues.map(({ message }) => ({
      field: 'external_id',
      issue: externalId == null ? 'is required' : message,
    }))
    return { issues }
  }
  if (externalId != null)
    return { issues: [{ field: 'external_id', issue: 'and id are both given; leave one empty' }] }
  const own = parseOwnId(id)
  return own === null
    ? { issues: [{ field: 'id', issue: 'must be the id of a record' }] }
    : { id: own, externalId: undefined }
}
