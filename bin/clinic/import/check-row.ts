import type * as z from 'zod'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import type { ImportIds } from '../../../shared/store/import-ids.ts'
import type { ImportEntity, ImportRow } from './entity.ts'
import { ownIdColumn, refIds, withOwnIds } from './references.ts'
import { identify } from './row-identity.ts'
import type { Row } from './rows.ts'

type CheckedRow<Fields> = ImportRow<Fields> | { reason: string }

/** Checks rows without the table. */
export function rowChecker<Fields>(
  entity: ImportEntity<Fields>,
  clinic: ClinicInfo,
  now: number,
  idOf: ImportIds,
) {
  const schema = entity.schema(clinic, now, refIds(idOf))
  return (row: Row): CheckedRow<Fields> => {
    if (!('fields' in row)) return { reason: row.problem }
    const { external_id, id, ...source } = row.fields
    const own = withOwnIds(source, entity.columns)
    const identity = identify(external_id, id)
    const fields = schema.safeParse(own.fields)
    if (!identity.issues && own.issues.length === 0 && fields.success) {
      return {
        id: identity.id ?? idOf(entity.idKind, identity.externalId),
        externalId: identity.externalId,
        source,
        columnOf: (name) => (source[ownIdColumn(name)] == null ? name : ownIdColumn(name)),
        line: row.line,
        fields: fields.data,
      }
    }
    const issues = [
      ...(identity.issues ?? []),
      ...own.issues,
      ...(fields.error?.issues ?? []).map(issueText(own.fields)),
    ]
    return { reason: issues.join('; ') }
  }
}

const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ')

const issueText =
  (row: Record<string, unknown>) =>
  (issue: z.core.$ZodIssue): string => {
    if (issue.code === 'unrecognized_keys') return `unknown field ${quoted(issue.keys)}`
    const value = issue.path.reduce<unknown>(
      (at, name) => (at as Record<PropertyKey, unknown> | undefined)?.[name],
      row,
    )
    const name = issue.path.join('.')
    return value == null && issue.code !== 'custom' ? `${name} is required` : `${name} ${issue.message}`
  }
