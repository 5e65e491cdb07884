import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'

/** Rows by what became of them. */
export type Counts = { imported: number; updated: number; unchanged: number }

/** What one batch of an import did. Rows can still be rejected when they are written: the record that they refer to may not exist. */
export type BatchResult = {
  imported: number
  updated: number
  unchanged: number
  rejected?: readonly RowRejection[]
}

export type RowRejection = { readonly id: string; readonly reason: string }

/** How rows of one kind become records. */
export type ImportEntity<Fields = unknown> = {
  /** File stem and `--entity` name, e.g. `patients`. */
  readonly name: string
  /** Part of the name that ids are derived from. Never change it: imports would create every record again. */
  readonly idKind: string
  /** Fields of a row beside `external_id`; those it does not name are refused. */
  readonly schema: (clinic: ClinicInfo, now: number) => z.ZodType<Fields>
  readonly columns: readonly string[]
  /** Columns that a CSV file must have, beside `external_id`. */
  readonly required: readonly string[]
  /** Writes a batch in the order given; every id in it is different. A field that is undefined was not in the file. */
  readonly write: (clinic: ClinicInfo, batch: readonly ImportRow<Fields>[]) => Promise<BatchResult>
  /** Once after all rows. */
  readonly finish?: (clinic: ClinicInfo) => Promise<void>
}

export type ImportRow<Fields = unknown> = {
  readonly id: string
  readonly line: number
  readonly fields: Fields
  /** The row as it stood in the file. */
  readonly raw: unknown
}

/**
 * What a row says about each field of an entity; undefined where the file has no such column. Fields are required, so a
 * new one does not compile until its column is read, or it is said to have none.
 */
export type RowFields<Entity> = { readonly [Name in keyof Entity]-?: Entity[Name] | undefined }

type DefinedFields<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> }

/** The fields that a row has, so that spreading them over a record leaves the others as they are. */
export function definedFields<T extends object>(fields: T): DefinedFields<T> {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as DefinedFields<T>
}

/** Whether `change` alters nothing of `record`. */
export const isUnchanged = <T extends object>(record: T, change: Partial<T>): boolean =>
  isDeepStrictEqual(record, { ...record, ...change })
