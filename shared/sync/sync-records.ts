/** Writes records of a clinic's own system for a request, as an import of a file with these rows would. */
import type { ClinicInfo } from '../domain/clinic.ts'
import type { ImportKeys } from '../store/external-ids/derive.ts'
import { isLinkable, type LinkableKind } from '../store/external-ids/links.ts'
import { ExternalIdTaken, isUnavailable, UnavailableError } from '../store/table/errors.ts'
import { withScope } from '../store/table/request-scope.ts'
import { retryOnConflict } from '../store/table/retries.ts'
import type { Table } from '../store/table/table.ts'
import { recordChecker } from './check-record.ts'
import type { ImportableEntity, ImportRow } from './entities/entity.ts'
import { LinkedSince } from './external-ids/new-links.ts'
import { overwritePolicy } from './external-ids/overwrite-check.ts'
import { linkIssue, linkRecord } from './external-ids/record-links.ts'
import { ExternalRef, externalIdOf } from './external-ids/resolve-references.ts'
import { BatchOutcomes, type RowWrite } from './outcomes/batch-outcomes.ts'
import type { RowIssue } from './outcomes/row-rejected.ts'

export type SyncedRecord = {
  readonly externalId: string | null
  /** Null if none follows from what was sent. */
  readonly id: string | null
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'rejected'
  readonly issues: readonly RowIssue[]
  readonly warnings: readonly RowIssue[]
}

type SyncOptions = {
  readonly overwrite: boolean
  readonly allowOverlaps: boolean
  readonly now: number
  /** Nothing is written after it has aborted. */
  readonly signal: AbortSignal
}

/** A record of the request, and what is found out about it. */
type Sent<F> = {
  readonly id: string | null
  readonly externalId: string | null
  /** The field that names the record. Issues of the record as a whole are issues of this field. */
  readonly name: 'id' | 'external_id'
  /** Null if the record cannot be read. */
  readonly row: ImportRow<F> | null
  issues: readonly RowIssue[]
  warnings: readonly RowIssue[]
}

const OUTCOMES: { readonly [Name in RowWrite]: SyncedRecord['outcome'] } = {
  imported: 'created',
  updated: 'updated',
  unchanged: 'unchanged',
}

/** Errors of what may succeed when it is sent again, and is then compared with what is stored. */
const TEMPORARY = [UnavailableError, LinkedSince, ExternalIdTaken]

/** What became of the record is not known. Sent again, it is compared with what is stored. */
const UNAVAILABLE: RowIssue = { field: '', issue: 'unavailable' }

/**
 * Writes or rejects each record by itself. When the table becomes unavailable, or the time is over, those without an outcome are
 * rejected as `unavailable`.
 * @throws UnavailableError before anything is written
 */
export async function writeRecords<F>(
  table: Table,
  entity: ImportableEntity<F>,
  clinic: ClinicInfo,
  records: readonly Readonly<Record<string, unknown>>[],
  { overwrite, allowOverlaps, now, signal }: SyncOptions,
): Promise<SyncedRecord[]> {
  const keys = await entity.readKeys(clinic.id)
  const sent = await readRecords(entity, clinic, keys, records, now)
  rejectRepeated(entity, sent)
  const { idKind } = entity
  const links = isLinkable(idKind) ? linksOf(idKind, sent) : []
  await Promise.all(
    links.map(async ({ one, ...link }) => {
      const issue = await linkIssue(table, clinic.id, link, overwrite)
      if (issue) one.issues = [...one.issues, issue]
    }),
  )
  const policy = overwritePolicy(keys.digestOf, { overwrite })
  const run = { clinic, overwritePolicy: policy, allowOverlaps, allowSameNumbers: false }
  const written = new Map<ImportRow<F>, BatchOutcomes>()
  /** Whether links have changed their records. */
  const linked = new Map<Sent<F>, boolean>()

  async function writeRows(rows: readonly ImportRow<F>[]): Promise<BatchOutcomes> {
    const outcomes = new BatchOutcomes()
    for (const row of rows) written.set(row, outcomes)
    await retryOnConflict(async () => {
      const open = rows.filter(({ id }) => !outcomes.isFinal(id))
      if (open.length > 0) await entity.write({ ...run, outcomes }, open)
    })
    return outcomes
  }

  let isComplete = true
  /** Ends what may succeed when it is sent again: records without an outcome are unavailable. */
  function leaveTemporary(error: unknown): void {
    if (!TEMPORARY.some((kind) => error instanceof kind) && !isUnavailable(error)) throw error
    isComplete = false
  }

  async function writeAll(): Promise<void> {
    const rows = sent.flatMap(({ row, issues }) => (row && issues.length === 0 ? [row] : []))
    const { rejections } = await writeRows(rows)
    // A refund can precede its payment.
    const early = new Set(rejections.flatMap(({ id, mayPassLater }) => (mayPassLater ? [id] : [])))
    if (early.size > 0) await writeRows(rows.filter(({ id }) => early.has(id)))
    for (const { one, ...link } of links) {
      const outcome = one.row && written.get(one.row)?.outcomeOf(one.row.id)
      if (outcome && outcome !== 'rejected')
        await linkRecord(table, clinic.id, link, overwrite)
          .then((isChanged) => linked.set(one, isChanged))
          .catch(leaveTemporary)
    }
  }

  await withScope({ signal }, writeAll).catch(leaveTemporary)
  const toLink = new Set(links.map(({ one }) => one))
  return sent.map((one) => {
    const result = resultOf(one, one.row ? written.get(one.row) : undefined, isComplete)
    if (result.outcome === 'rejected' || !toLink.has(one)) return result
    if (!linked.has(one)) return rejectedResult(one, [UNAVAILABLE])
    return linked.get(one) && result.outcome === 'unchanged' ? { ...result, outcome: 'updated' } : result
  })
}

/** Reads the records, with the ids that their references have. */
async function readRecords<F>(
  entity: ImportableEntity<F>,
  clinic: ClinicInfo,
  keys: ImportKeys,
  records: readonly Readonly<Record<string, unknown>>[],
  now: number,
): Promise<Sent<F>[]> {
  const own = entity.ownRecords(clinic.id, keys)
  const check = recordChecker(entity, clinic, now, own.idOf)
  /** Why the record with this id cannot get an external id. */
  function givenIdProblem(given: unknown, id: string): string | undefined {
    const { data, error } = ExternalRef.safeParse(given)
    if (error) return error.issues[0]?.message
    const isOther = !isLinkable(entity.idKind) && own.idOf(entity.idKind, data.normalize()) !== id
    return isOther ? 'cannot change' : undefined
  }
  const read = ({ external_id, ...record }: Readonly<Record<string, unknown>>, line: number): Sent<F> => {
    const name = record.id == null ? 'external_id' : 'id'
    const externalId = externalIdOf(external_id)
    // A record with both is the one with the id, and gets the external id.
    const isBoth = name === 'id' && external_id != null
    const checked = check({ fields: isBoth ? record : { ...record, external_id }, line })
    const known = { externalId, name } as const
    if (!('row' in checked))
      return { ...known, id: checked.id ?? null, row: null, issues: checked.issues, warnings: [] }
    const wrong = isBoth ? givenIdProblem(external_id, checked.row.id) : undefined
    const issues = wrong === undefined ? [] : [{ field: 'external_id', issue: wrong }]
    return { ...known, id: checked.row.id, row: checked.row, issues, warnings: checked.warnings }
  }
  const sent = records.map(read)
  return (await own.lookUp()) ? records.map(read) : sent
}

/** Rejects records that an earlier one of the request is, or whose external id it gets, and warns of those with the same person. */
function rejectRepeated<F>({ personOf }: ImportableEntity<F>, sent: readonly Sent<F>[]): void {
  const ids = new Map<string, number>()
  const people = new Map<string, number>()
  for (const [at, one] of sent.entries()) {
    if (!one.row || one.issues.length > 0) continue
    const own = [one.row.id, one.externalId].filter((id) => id !== null)
    const [first] = own.flatMap((id) => ids.get(id) ?? [])
    if (first !== undefined) one.issues = [{ field: '', issue: `is already used in records.${first}` }]
    else for (const id of own) ids.set(id, at)
    const person = personOf?.(one.row.fields) ?? null
    if (person === null) continue
    const other = people.get(person)
    if (other === undefined) people.set(person, at)
    else
      one.warnings = [
        ...one.warnings,
        { field: '', issue: `first_name, last_name and date_of_birth are already used in records.${other}` },
      ]
  }
}

/** The records that are to be linked to external ids. */
const linksOf = <F>(kind: LinkableKind, sent: readonly Sent<F>[]) =>
  sent.flatMap((one) =>
    one.row && one.issues.length === 0 && one.name === 'id' && one.externalId !== null
      ? [{ one, kind, id: one.row.id, externalId: one.externalId }]
      : [],
  )

/** Issues of the record as a whole, as issues of the field that names it. */
const named = <F>({ name }: Sent<F>, issues: readonly RowIssue[]): RowIssue[] =>
  issues.map(({ field, issue }) => ({ field: field === '' ? name : field, issue }))

function rejectedResult<F>(one: Sent<F>, issues: readonly RowIssue[]): SyncedRecord {
  const { externalId, id } = one
  return { externalId, id, outcome: 'rejected', issues: named(one, issues), warnings: [] }
}

/** @param isComplete whether a record that depends on others of the request was rejected after all of them were written */
function resultOf<F>(one: Sent<F>, outcomes: BatchOutcomes | undefined, isComplete: boolean): SyncedRecord {
  const { id, externalId, row } = one
  const outcome = row && outcomes?.outcomeOf(row.id)
  const rejection = outcomes?.rejections.find(
    (rejected) => rejected.id === id && (isComplete || !rejected.mayPassLater),
  )
  const found = outcome && row ? (outcomes?.warnings.get(row.id) ?? []) : []
  const issues = one.issues.length > 0 ? one.issues : rejection?.issues
  if (issues || !outcome || outcome === 'rejected') return rejectedResult(one, issues ?? [UNAVAILABLE])
  const warnings = named(one, [...one.warnings, ...found])
  return { externalId, id, outcome: OUTCOMES[outcome], issues: [], warnings }
}
