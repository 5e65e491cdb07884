/**
 * The state that the last import of a record read and left, so that a later one neither repeats its changes nor undoes changes made
 * since. Two things are stored with the record, as one text: a digest of the row that was imported, and a short digest of the value
 * of each column as that import left it in the record.
 *
 * The row as it was read is compared, not what it was parsed to: a row that is repeated is recognized in spite of a new release, or of
 * another currency of the clinic. Values are compared one by one, since a file may have some columns only: what it does not have is
 * neither its concern nor confirmed by it. They also name the fields that differ.
 *
 * All digests are made with the clinic's secret and depend on the record's id, so they reveal neither values nor that two records have
 * the same. Erasing the patient removes them with the external id.
 */
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { hasExternalId, type Provenance } from '../../store/external-ids/provenance.ts'
import { RowRejectedError } from '../outcomes/row-rejected.ts'
import { externalIdOf, parseOwnId } from './resolve-references.ts'

/** The values of a record by the column that sets each. References are ids of records. */
export type ColumnValues = Readonly<Record<string, unknown>>

/** The source of a row, independent of how it is parsed. */
export type RowSource = {
  readonly id: string
  /** Undefined if the row names the record by its own id. */
  readonly externalId: string | undefined
  /** Values by column, as they were read. */
  readonly source: Readonly<Record<string, unknown>>
  /** The name of a column in the file: references may be given as ids of records. */
  readonly columnOf: (name: string) => string
}

type KeyedDigest = (text: string) => Buffer

/** 64 bits for the row: a changed row must not be taken for an unchanged one. */
const ROW_BYTES = 8
/** 32 bits for a value, which is compared with one other only. */
const VALUE_BYTES = 4
/** Identifies the column; `test/shared/sync/external-ids/overwrite-check.unit.test.ts` requires the columns of an entity to differ. */
const TAG_BYTES = 2

export type OverwritePolicy = ReturnType<typeof overwritePolicy>

/** @param overwrite whether rows replace what was changed in the clinic */
export function overwritePolicy(digestOf: KeyedDigest, { overwrite = false } = {}) {
  const rowDigest = ({ id, source }: RowSource): Buffer =>
    digestOf(`${id} row ${canonical(source)}`).subarray(0, ROW_BYTES)

  /** Digests of a record's values, with a key of the record: a truncated hash is faster than an HMAC for each. */
  const valueDigests = (id: string) => {
    const key = digestOf(`${id} values`).toString('latin1')
    return (column: string, value: unknown): Buffer =>
      hash('sha256', `${key} ${column} ${canonical(value)}`, 'buffer').subarray(0, VALUE_BYTES)
  }

  /** Whether the row is the one that was imported last. Then nothing is to be done, whatever became of the record. */
  const isImported = (row: RowSource, { imported }: Provenance): boolean =>
    imported !== undefined && decode(imported).row.equals(rowDigest(row))

  /** Whether the last import has left this value in a column: the row says nothing new of it. */
  const isRepeated = ({ id }: RowSource, { imported }: Provenance, column: string, value: unknown): boolean =>
    decode(imported).values.get(tagOf(column))?.equals(valueDigests(id)(column, value)) ?? false

  /**
   * The provenance of a record once the row is imported. `before` are the values of the stored record, null if there is none; `after`
   * are those that the row would leave. `initial` are those of a new record, where it has some. The cells of `kept` columns are not used.
   * @throws RowRejectedError if the row would undo what was changed in the clinic since the last import
   */
  function check(
    row: RowSource,
    stored: Provenance | null,
    before: ColumnValues | null,
    after: ColumnValues,
    initial: ColumnValues = {},
    kept: readonly string[] = [],
  ): Provenance {
    // A record that neither an import nor the API gave an external id takes the row's.
    const isGivenOne = stored && (stored.externalId !== undefined || stored.isLinkedByApi)
    if (before && isGivenOne && row.externalId !== undefined && !hasExternalId(stored, row.externalId))
      throw linkedByApi('', 'record')
    const { values } = decode(stored?.imported)
    const names = Object.keys(after)
    const valueDigest = valueDigests(row.id)
    const isLeft = (name: string) => values.get(tagOf(name))?.equals(valueDigest(name, before?.[name]))
    const isGiven = (name: string) => row.source[row.columnOf(name)] !== undefined && !kept.includes(name)
    const differing = before ? names.filter((name) => !isSame(before[name], after[name])) : []
    // A row that names the record by its own id does not depend on what the API has set.
    if (before && stored?.isLinkedByApi && row.externalId !== undefined && differing.length > 0)
      throw linkedByApi('', 'record')
    if (before && !overwrite) {
      // An import of an earlier release, which did not have the field, has left it as new records have it.
      const isInitial = (name: string) =>
        stored?.imported !== undefined && name in initial && isSame(before[name], initial[name])
      // What the last import has not left would be lost.
      const isLost = (name: string): boolean => {
        const left = isLeft(name)
        return left === undefined ? !isEmpty(before[name]) && !isInitial(name) : !left
      }
      if (differing.some(isLost)) throw conflict(row, stored, differing)
    }
    for (const name of names) {
      const isConfirmed = !before || differing.includes(name) || isGiven(name)
      if (isConfirmed) values.set(tagOf(name), valueDigest(name, after[name]))
    }
    const externalId = stored?.externalId ?? row.externalId
    return {
      ...(externalId != null && { externalId }),
      ...(stored?.isLinkedByApi && { isLinkedByApi: true }),
      imported: encode({ row: rowDigest(row), values }),
    }
  }

  /** @throws RowRejectedError with the reason, unless rows replace what was changed in the clinic */
  function requireOverwrite(issue: string, reason: string, effect: string): void {
    if (overwrite) return
    throw new RowRejectedError({ field: '', issue }, `${reason}; import the row with --overwrite ${effect}`)
  }

  return { isImported, isRepeated, check, requireOverwrite }
}

/**
 * Requires that no request has set or removed the external id of a record that a row refers to, nor given it another one, unless the
 * row names the record by its own id.
 * @throws RowRejectedError
 */
export function requireConfirmed(
  { source, columnOf }: Pick<RowSource, 'source' | 'columnOf'>,
  column: string,
  record: Provenance & { readonly id: string },
): void {
  const name = columnOf(column)
  if (parseOwnId(source[name]) === record.id) return
  const isOther = record.externalId != null && !hasExternalId(record, externalIdOf(source[name]))
  if (record.isLinkedByApi || isOther) throw linkedByApi(name, `record that ${name} names`)
}

const linkedByApi = (field: string, record: string): RowRejectedError =>
  new RowRejectedError(
    { field, issue: 'linked_by_api' },
    `linked_by_api: the API has set or removed the external id of the ${record}; confirm it with "patient link" or ` +
      '"appointment link", or all of a file with "link"',
  )

function conflict(
  { columnOf }: RowSource,
  stored: Provenance | null,
  differing: readonly string[],
): RowRejectedError {
  const fields = differing.map(columnOf)
  return new RowRejectedError(
    fields.map((field) => ({ field, issue: 'conflict' })),
    `${fields.join(', ')} ${fields.length === 1 ? 'differs' : 'differ'} from the record, which ` +
      `${stored?.imported === undefined ? 'no import has written' : 'was changed after its last import'}; ` +
      'import the row with --overwrite to replace what the record has',
  )
}

type ImportedState = { readonly row: Buffer; readonly values: Map<number, Buffer> }

function encode({ row, values }: ImportedState): string {
  const entries = [...values].sort(([a], [b]) => a - b)
  const tagged = entries.flatMap(([tag, digest]) => {
    const bytes = Buffer.alloc(TAG_BYTES)
    bytes.writeUInt16BE(tag)
    return [bytes, digest]
  })
  return Buffer.concat([row, ...tagged]).toString('base64url')
}

function decode(imported: string | undefined): ImportedState {
  const bytes = Buffer.from(imported ?? '', 'base64url')
  const values = new Map<number, Buffer>()
  for (let at = ROW_BYTES; at < bytes.length; at += TAG_BYTES + VALUE_BYTES)
    values.set(bytes.readUInt16BE(at), bytes.subarray(at + TAG_BYTES, at + TAG_BYTES + VALUE_BYTES))
  return { row: bytes.subarray(0, ROW_BYTES), values }
}

/** Two bytes of the name, by the hash FNV-1a. */
export function tagOf(column: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(column)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return (hash >>> 16) ^ (hash & 0xffff)
}

const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a ?? null, b ?? null)

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

/** JSON with sorted keys. Numbers and booleans of NDJSON are the same as their text in CSV. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null)
    return value === null || value === undefined ? 'null' : JSON.stringify(String(value))
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`)
    .join()}}`
}
