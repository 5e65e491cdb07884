import * as z from 'zod'
import type { ClinicId } from '../../domain/clinic.ts'
import { externalId } from '../../domain/patients/text-fields.ts'
import { isUuid } from '../../domain/uuid.ts'
import type { ImportedKind } from '../../store/external-ids/derive.ts'
import { type RowIssue, RowRejectedError } from '../outcomes/row-rejected.ts'

const NOT_AN_ID = 'must be text or a safe integer'

/** An id in the clinic's own system. */
export const ExternalRef = z
  .union([z.string(), z.int({ error: NOT_AN_ID })], { error: NOT_AN_ID })
  .transform(String)
  .pipe(externalId())

/** An external id as it was sent, in one form of Unicode; null if there is none, or it is not valid. */
export const externalIdOf = (value: unknown): string | null =>
  ExternalRef.safeParse(value).data?.normalize() ?? null

/** A record that a file names by its own id. */
class OwnId {
  readonly id: string
  constructor(id: string) {
    this.id = id
  }
}

/** A reference to another record: its external id, or its own id ({@link withOwnIds}). */
export const RecordRef = z.union([z.instanceof(OwnId), ExternalRef], { error: NOT_AN_ID })

export type RecordRef = string | OwnId

/** The id of a record, as a reference. */
export const OwnRef = z
  .string()
  .trim()
  .refine(isUuid, { error: 'must be the id of a record' })
  .transform((id) => new OwnId(id.toLowerCase()))

/** A list of references in NDJSON; in a CSV cell, separated by semicolons, or as JSON. */
export const RecordRefs = z.preprocess(splitList, z.array(RecordRef, { error: 'must be a list of ids' }))

/** The id of the record that a reference means. */
export type RefIds = (kind: ImportedKind, ref: RecordRef) => string

/** Reads references of files with the ids that external ids have. */
export const refIds =
  (idOf: (kind: ImportedKind, externalId: string) => string): RefIds =>
  (kind, ref) =>
    ref instanceof OwnId ? ref.id : idOf(kind, ref)

/** The column with ids of records next to a column with external ids: `patient_id` next to `patient_external_id`. */
export const ownIdColumn = (column: string): string => column.replace(/(^|_)external_(ids?)$/, '$1$2')

/** The columns of a file, with those that have ids of records. */
export const withOwnIdColumns = (columns: readonly string[]): string[] =>
  columns.flatMap((column) => [...new Set([column, ownIdColumn(column)])])

/** The id of a record in a cell; null for another value. */
export function parseOwnId(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : ''
  return isUuid(text) ? text.toLowerCase() : null
}

type Row = Readonly<Record<string, unknown>>

/**
 * Moves ids of records to the columns with external ids, so that both are read alike. A row has at most one of both.
 * @param columns of the entity
 * @returns the row, and what is wrong with its ids
 */
export function withOwnIds(
  row: Row,
  columns: readonly string[],
): { fields: Row; issues: readonly RowIssue[] } {
  const fields: Record<string, unknown> = { ...row }
  const issues: RowIssue[] = []
  for (const column of columns) {
    const own = ownIdColumn(column)
    if (own === column || row[own] === undefined) continue
    const { [own]: value } = row
    delete fields[own]
    if (value === null) fields[column] ??= null
    else if (row[column] != null)
      issues.push({ field: column, issue: `and ${own} are both given; leave one empty` })
    else {
      const list = own.endsWith('s') ? splitList(value) : [value]
      const ids: (string | null)[] = Array.isArray(list) ? list.map(parseOwnId) : [null]
      if (ids.includes(null)) {
        issues.push({
          field: own,
          issue: 'must have ids of records, such as 1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b',
        })
        fields[column] = new OwnId('')
      } else {
        const refs = ids.map((id) => new OwnId(id ?? ''))
        fields[column] = own.endsWith('s') ? refs : refs[0]
      }
    }
  }
  return { fields, issues }
}

function splitList(value: unknown): unknown {
  if (typeof value !== 'string') return value
  // Other text can be an id in brackets.
  const list = value.startsWith('["') ? parseJson(value) : undefined
  return list ?? value.split(';').map((piece) => piece.trim())
}

/** The value of JSON text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text of a list of ids that {@link RecordRefs} reads. */
export const formatList = (ids: readonly string[]): string =>
  ids.some((id) => /;|^\["/.test(id)) ? JSON.stringify(ids) : ids.join(';')

/** The records that rows refer to, by id. */
export const findReferenced = <R, Fields>(
  { findMany }: { readonly findMany: (clinic: ClinicId, ids: readonly string[]) => Promise<R> },
  clinic: ClinicId,
  rows: readonly { readonly fields: Fields }[],
  idsOf: (fields: Fields) => readonly (string | null | undefined)[],
): Promise<R> =>
  findMany(clinic, [...new Set(rows.flatMap(({ fields }) => idsOf(fields)).filter((id) => id != null))])

/** The record that a column of a row refers to. @throws RowRejectedError if the clinic does not have it */
export function requireKnown<R>(found: R | null | undefined, column: string, kind: string): R {
  if (found) return found
  throw new RowRejectedError({
    field: column,
    issue: `is unknown: the clinic has no such ${kind}, or its row was rejected`,
  })
}
