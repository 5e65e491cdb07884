import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import type { ClinicId, ClinicInfo } from '../../domain/clinic.ts'
import type { ImportedKind, ImportKeys } from '../../store/external-ids/derive.ts'
import type { OverwritePolicy, RowSource } from '../external-ids/overwrite-check.ts'
import type { RefIds } from '../external-ids/resolve-references.ts'
import type { OwnRecords } from '../external-ids/resolve-rows.ts'
import type { BatchOutcomes } from '../outcomes/batch-outcomes.ts'

/** How the rows of one entity become records. */
export type ImportEntity<Fields = unknown> = {
  /** File stem and `--entity` name, e.g. `patients`. */
  readonly name: string
  readonly idKind: ImportedKind
  /** Fields of a row except `external_id`; `idOf` returns the ids of other records. Unknown fields are rejected. */
  readonly schema: (clinic: ClinicInfo, now: number, idOf: RefIds) => z.ZodType<Fields>
  readonly columns: readonly string[]
  /** Columns that a CSV file must have in addition to `external_id`. */
  readonly required: readonly string[]
  /** Who the row is about, if that is a person who has a record of their own; null if the row does not say so. */
  readonly personOf?: (fields: Fields) => string | null
  /** Rows that are written together, where they depend on each other. */
  readonly batchSize?: number
  /**
   * Writes a batch in the given order, and reports the outcome of each row. Its ids are distinct. An undefined field was
   * not in the file. After an error, it is called again with the rows that have no outcome yet. A row can still be
   * rejected at this point, for example because it refers to an unknown patient.
   */
  readonly write: (run: ImportRun, batch: readonly ImportRow<Fields>[]) => Promise<void>
  /** Runs once, after all rows. */
  readonly finish?: (clinic: ClinicInfo, options: { readonly isTrial: boolean }) => Promise<void>
}

/** An entity with access to what is derived with the secrets of its clinics. */
export type ImportableEntity<Fields = unknown> = ImportEntity<Fields> & {
  readonly readKeys: (clinic: ClinicId) => Promise<ImportKeys>
  /** The records of a clinic that external ids mean, by those that have the form of a record's id. */
  readonly ownRecords: (clinic: ClinicId, keys: ImportKeys) => OwnRecords
}

/** The clinic, table and policy with which the rows of a batch are written. */
export type ImportRun = {
  readonly clinic: ClinicInfo
  readonly outcomes: BatchOutcomes
  readonly overwritePolicy: OverwritePolicy
  /** Whether appointments may be added to time that is taken. */
  readonly allowOverlaps: boolean
  /** Whether invoices may get a number that another invoice has. */
  readonly allowSameNumbers: boolean
}

/** A row with an external id makes its record if there is none; one with the record's own id does not. */
export type ImportRow<Fields = unknown> = RowSource & {
  readonly line: number
  readonly fields: Fields
}

/**
 * The value of a row for each field of an entity; undefined if the file has no such column. All fields are required, so
 * that a new field does not compile until the import reads its column or declares that it has none.
 */
export type RowFields<Entity> = { readonly [Name in keyof Entity]-?: Entity[Name] | undefined }

type DefinedFields<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> }

/** Removes undefined fields, so that spreading the result over a record keeps the record's own values. */
export function definedFields<T extends object>(fields: T): DefinedFields<T> {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as DefinedFields<T>
}

/** Whether applying `change` to `record` would change nothing. */
export const isUnchanged = <T extends object>(record: T, change: Partial<T>): boolean =>
  isDeepStrictEqual(record, { ...record, ...change })
