/** Imports one file: reads, validates and writes rows in batches. Invalid rows are rejected without stopping the others. */
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { type CheckedRecord, recordChecker } from '../../../../shared/sync/check-record.ts'
import type { ImportableEntity, ImportRow } from '../../../../shared/sync/entities/entity.ts'
import { LinkedSince } from '../../../../shared/sync/external-ids/new-links.ts'
import { overwritePolicy } from '../../../../shared/sync/external-ids/overwrite-check.ts'
import { withOwnRecords } from '../../../../shared/sync/external-ids/resolve-rows.ts'
import { BatchOutcomes, type Counts, type RowWrite } from '../../../../shared/sync/outcomes/batch-outcomes.ts'
import { issueText } from '../../../../shared/sync/outcomes/row-rejected.ts'
import { type Group, GroupedTexts } from '../files/grouped-texts.ts'
import { ImportFileError } from '../files/problems.ts'
import type { RejectedRows } from '../files/rejections.ts'
import type { SourceRow } from '../files/row.ts'
import type { Conversions } from './conversions.ts'
import { type MoneySum, MoneySums } from './money-sums.ts'
import { retryPatiently } from './patience.ts'
import { disputedPatient, repeatedId, repeatedPerson, SeenIds } from './repeated-values.ts'

export type ImportResult = Counts & { rejected: number; warnings: number }

export type ImportProgress = ImportResult & {
  /** Several rows can be one record. */
  readonly rows: { records: number; rejected: number }
}

export type ImportOptions = {
  /** Where rejected rows are kept. */
  readonly rejected?: RejectedRows
  /** What rows of the files that were imported before have. */
  readonly seen?: SeenIds
  /** Ends the import after the current batch. */
  readonly signal?: AbortSignal
  /** Whether nothing is written: the entity has a trial table. */
  readonly isTrial?: boolean
  /** Called after each batch, with the same object. */
  readonly onProgress?: (progress: Readonly<ImportProgress>) => void
  /** Called with the reasons of a rejected row, which never quote its values. */
  readonly onRejected?: (line: number, reasons: readonly string[]) => void
  /** Called with what is warned of in a row. The text begins with the field. */
  readonly onWarning?: (line: number, text: string) => void
  /** Called once, when the import first waits for the store. */
  readonly onWait?: () => void
  readonly now: () => number
  /** Whether rows replace what was changed in the clinic since they were imported. */
  readonly overwrite?: boolean
  /** Whether appointments may be added to time that is taken. */
  readonly allowOverlaps?: boolean
  /** Whether invoices may get a number that another invoice has. */
  readonly allowSameNumbers?: boolean
}

/** What became of the rows of a file. */
export type ImportedFile = Readonly<ImportProgress> & {
  readonly sums: readonly MoneySum[]
  readonly reasons: readonly Readonly<Group>[]
  readonly warned: readonly Readonly<Group>[]
}

/** The import was stopped between two batches. */
export class ImportStopped extends Error {}

/** Rows per batch: four transactions of new patients, and within the limit of one batch read. */
const BATCH_SIZE = 96

type Accepted<Fields> = {
  readonly row: ImportRow<Fields>
  readonly source: SourceRow
  /** Whether an earlier row is about the same person. */
  readonly isRepeated: boolean
}

type Rejected = { readonly source: SourceRow; readonly reasons: readonly string[] }

const rowsOf = ({ further = [] }: SourceRow): number => 1 + further.length

/**
 * @throws ImportFileError when the file as a whole cannot be imported
 * @throws ImportStopped when the signal was aborted
 * @throws UnavailableError when the store is unavailable for longer than an import waits
 */
export async function importFile<Fields>(
  { file, conversions }: { readonly file: string; readonly conversions: Conversions },
  entity: ImportableEntity<Fields>,
  clinic: ClinicInfo,
  options: ImportOptions,
): Promise<ImportedFile> {
  const rows = { records: 0, rejected: 0 }
  const result: ImportProgress = { imported: 0, updated: 0, unchanged: 0, rejected: 0, warnings: 0, rows }
  const [reasons, warned, money] = [new GroupedTexts(), new GroupedTexts(), new MoneySums()]
  const keys = await entity.readKeys(clinic.id)
  const own = entity.ownRecords(clinic.id, keys)
  const checkRecord = recordChecker(entity, clinic, options.now(), own.idOf)
  const check = (source: SourceRow): CheckedRecord<Fields> =>
    'problem' in source
      ? { issues: [{ field: '', issue: source.problem }] }
      : checkRecord({ fields: source.values, line: source.line })
  const run = {
    clinic,
    overwritePolicy: overwritePolicy(keys.digestOf, options),
    allowOverlaps: options.allowOverlaps ?? false,
    allowSameNumbers: options.allowSameNumbers ?? false,
  }
  let { onWait: sayWaiting } = options
  const onWait = () => {
    sayWaiting?.()
    sayWaiting = undefined
  }
  using ownSeen = new SeenIds()
  const seen = options.seen ?? ownSeen
  const { batchSize = BATCH_SIZE } = entity
  /** Rows that are written together, and those that were rejected before. */
  const accepted = new Map<string, Accepted<Fields>>()
  const rejections: Rejected[] = []
  /** Rows that may be valid after the rest of the file, by their ids: a refund can precede its payment. */
  const postponed = new Set<string>()
  let isLastPass = false

  const warn = (text: string, line: number): void => {
    result.warnings++
    warned.add(text, line)
    options.onWarning?.(line, text)
  }

  /** A batch is compared with the records in the table, so it can be written again. */
  async function write(): Promise<BatchOutcomes> {
    const outcomes = new BatchOutcomes()
    const left = () => [...accepted.values()].map(({ row }) => row).filter(({ id }) => !outcomes.isFinal(id))
    if (accepted.size > 0)
      await retryPatiently(() => entity.write({ ...run, outcomes }, left()), onWait).catch((error) => {
        if (!(error instanceof LinkedSince)) throw error
        throw new ImportFileError(
          'External ids were linked while the import ran. What was written stays; import the file again.',
        )
      })
    return outcomes
  }

  async function flush(): Promise<void> {
    const outcomes = await write()
    for (const { id, issues, reason, mayPassLater } of outcomes.rejections) {
      const known = accepted.get(id)
      if (known && mayPassLater && !isLastPass) postponed.add(id)
      else if (known) rejections.push({ source: known.source, reasons: [reason] })
      if (issues.some(({ issue }) => issue === 'another_person')) seen.disputed.add(id)
      accepted.delete(id)
    }
    for (const [id, { row, source, isRepeated }] of accepted) {
      // The other one may be of an earlier run of the same file.
      for (const { kind, patient, ...issue } of outcomes.warnings.get(id) ?? [])
        if (!(isRepeated && kind === 'same_person'))
          warn(`${issueText(issue)}${patient === undefined ? '' : `: ${patient}`}`, row.line)
      result[outcomes.outcomeOf(id) as RowWrite]++
      rows.records += rowsOf(source)
      money.add(row.source, 'records')
    }
    for (const { source, reasons: all } of rejections.sort((a, b) => a.source.line - b.source.line)) {
      options.rejected?.add(source, all.join('; '))
      result.rejected++
      rows.rejected += rowsOf(source)
      for (const reason of all) reasons.add(reason, source.line)
      if ('values' in source) money.add(source.values, 'rejected')
      options.onRejected?.(source.line, all)
    }
    accepted.clear()
    rejections.length = 0
    options.onProgress?.(result)
    if (options.signal?.aborted) throw new ImportStopped()
  }

  const read = () => withOwnRecords(conversions.records(file, entity.name), check, own)
  for await (const { source, row: checked } of read()) {
    for (const text of source.warnings ?? []) warn(text, source.line)
    const problems = 'issues' in checked ? checked.issues.map(issueText) : []
    if ('row' in checked) {
      const found = [repeatedId(seen, entity, file, checked.row), disputedPatient(seen, checked.row)]
      problems.push(...found.filter((problem) => problem !== null))
    }
    if (problems.length > 0) rejections.push({ source, reasons: problems })
    else if ('row' in checked) {
      const { row } = checked
      // Rows of line items can have one invoice.
      if (accepted.has(row.id)) await flush()
      const repeated = repeatedPerson(seen, entity, file, row)
      accepted.set(row.id, { row, source, isRepeated: repeated !== null })
      for (const warning of repeated ? [...checked.warnings, repeated] : checked.warnings)
        warn(issueText(warning), source.line)
    }
    if (accepted.size >= batchSize || rejections.length >= batchSize) await flush()
  }
  await flush()
  isLastPass = true
  if (postponed.size > 0)
    for await (const { source, row: checked } of read()) {
      if (!('row' in checked) || !postponed.delete(checked.row.id)) continue
      accepted.set(checked.row.id, { row: checked.row, source, isRepeated: false })
      if (accepted.size >= batchSize) await flush()
    }
  if (accepted.size > 0) await flush()
  await retryPatiently(async () => entity.finish?.(clinic, { isTrial: options.isTrial === true }), onWait)
  const sums = money.sums(clinic.currency)
  return { ...result, sums, reasons: reasons.groups, warned: warned.groups }
}
