/** The columns of an entity: one table says how a cell is read, which field of the record it sets, and the value of that field. */
import * as z from 'zod'
import type { ClinicInfo } from '../../domain/clinic.ts'
import type { ImportedKind } from '../../store/external-ids/derive.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import { RecordRef, RecordRefs, type RefIds } from '../external-ids/resolve-references.ts'

type Column = {
  readonly cell: z.ZodType
  /** Undefined for a column that is accepted because exports have it, but not used. */
  readonly field?: string
  /** Returns the field's value where it is not the cell. */
  readonly read?: (cell: never, idOf: RefIds) => unknown
  /** Returns the value that is compared where it is not the field's. */
  readonly compared?: (value: never) => unknown
}

type Columns = { readonly [name: string]: Column }

type Cells<C extends Columns> = z.ZodObject<{ [Name in keyof C]: C[Name]['cell'] }, z.core.$strict>

type ValueOf<C extends Column> = C extends { readonly read: (cell: never, idOf: RefIds) => infer Value }
  ? Value
  : z.output<C['cell']>

type FieldOf<C extends Column> = C extends { readonly field: infer Field extends string } ? Field : never

/** The value of each field that columns set; undefined if the file has no such column, or its cell keeps the default. */
type FieldsOf<C extends Columns> = { readonly [Name in keyof C as FieldOf<C[Name]>]: ValueOf<C[Name]> }

export const required = <Field extends string, Cell extends z.ZodType>(field: Field, cell: Cell) => ({
  field,
  cell,
})

/** A column whose empty cell removes the value. */
export const nullable = <Field extends string, Cell extends z.ZodType>(field: Field, cell: Cell) => ({
  field,
  cell: cell.nullish(),
})

/** A column whose empty cell means nothing: the record keeps its value, or gets the default. */
export const defaulted = <Field extends string, Cell extends z.ZodType>(field: Field, cell: Cell) => ({
  ...nullable(field, cell),
  read: (value: z.output<Cell> | null | undefined) => value ?? undefined,
})

/** A column whose empty cell means a list, or a group, without anything in it. */
export const emptied = <Field extends string, Cell extends z.ZodType>(
  field: Field,
  cell: Cell,
  empty: z.output<Cell>,
) => ({
  ...nullable(field, cell),
  read: (value: z.output<Cell> | null | undefined) => (value === null ? empty : value),
})

/** The ids of records, which a field has alone or with their names. */
function idsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(idsOf)
  return typeof value === 'object' && value !== null && 'id' in value ? value.id : value
}

export const reference = <Field extends string>(field: Field, kind: ImportedKind) => ({
  field,
  cell: RecordRef,
  read: (ref: RecordRef, idOf: RefIds) => idOf(kind, ref),
  compared: idsOf,
})

export const nullableReference = <Field extends string>(field: Field, kind: ImportedKind) => ({
  field,
  cell: RecordRef.nullish(),
  read: (ref: RecordRef | null | undefined, idOf: RefIds) => ref && idOf(kind, ref),
  compared: idsOf,
})

export const references = <Field extends string>(field: Field, kind: ImportedKind) => ({
  field,
  cell: RecordRefs.nullish(),
  read: (refs: readonly RecordRef[] | null | undefined, idOf: RefIds): readonly string[] | undefined =>
    refs === null ? [] : refs?.map((ref) => idOf(kind, ref)),
  compared: idsOf,
})

/** @param checked adds the conditions between cells */
export function columnTable<const C extends Columns>(
  columns: C,
  checked: (cells: Cells<C>, clinic: ClinicInfo, now: number) => Cells<C> = (cells) => cells,
) {
  const cells = z.strictObject(
    Object.fromEntries(Object.entries(columns).map(([name, { cell }]) => [name, cell])),
  ) as Cells<C>
  /** Spaces around a cell, which spreadsheets do not show, stay in texts of several lines, which may have them. */
  const trim = (name: string, cell: unknown): unknown =>
    typeof cell !== 'string' ||
    cell === cell.trim() ||
    (Object.hasOwn(columns, name) && columns[name]?.cell.safeParse(cell).success)
      ? cell
      : cell.trim()
  const trimmed = (row: unknown) =>
    Object.fromEntries(Object.entries(row as object).map(([name, cell]) => [name, trim(name, cell)]))
  const used = Object.entries(columns).flatMap(([name, { field, read, compared }]) =>
    field === undefined
      ? []
      : [
          {
            name,
            field,
            read: (read ?? ((cell) => cell)) as (cell: unknown, idOf: RefIds) => unknown,
            compared: (compared ?? ((value) => value)) as (value: unknown) => unknown,
          },
        ],
  )
  const fieldsOf = (row: object, idOf: RefIds) =>
    Object.fromEntries(
      used.map(({ name, field, read }) => [field, read((row as ColumnValues)[name], idOf)]),
    ) as FieldsOf<C>
  const required = Object.keys(columns).filter((name) => !columns[name]?.cell.isOptional())
  return {
    columns: Object.keys(columns),
    required,
    cells,
    schema: (clinic: ClinicInfo, now: number, idOf: RefIds) =>
      z.preprocess(trimmed, checked(cells, clinic, now)).transform((row) => fieldsOf(row, idOf)),
    /** The values of a record by the columns that set them. References are ids of records. */
    valuesOf: (record: { readonly [Field in keyof FieldsOf<C>]: unknown }): ColumnValues =>
      Object.fromEntries(
        used.map(({ name, field, compared }) => [name, compared(record[field as keyof FieldsOf<C>])]),
      ),
  }
}
