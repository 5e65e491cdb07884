/** The records that converters return, as types: an editor completes their fields and words. */
import type * as z from 'zod'
import type { appointmentCells } from '../../../../shared/sync/entities/appointments.ts'
import type {
  departmentCells,
  priceListCells,
  roomCells,
  treatmentCells,
} from '../../../../shared/sync/entities/catalogue.ts'
import type { doctorCells } from '../../../../shared/sync/entities/doctors.ts'
import type { holidayCells } from '../../../../shared/sync/entities/holidays.ts'
import type { invoiceCells } from '../../../../shared/sync/entities/invoices.ts'
import type { LineItems } from '../../../../shared/sync/entities/line-item-cells.ts'
import type { messageCells } from '../../../../shared/sync/entities/messages.ts'
import type { patientCells } from '../../../../shared/sync/entities/patients.ts'
import type { paymentCells } from '../../../../shared/sync/entities/payments.ts'

/** What a cell takes: where it also takes the text of a file, only what that text means. */
type Cell<Schema extends z.ZodType> = unknown extends z.input<Schema> ? z.output<Schema> : z.input<Schema>

/** A value, whose parts can be null: an empty cell that is required rejects the row. */
type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends object
    ? { readonly [Field in keyof Value]: Given<Value[Field]> | null }
    : Value

type Optional<Shape> = { [Field in keyof Shape]: undefined extends Shape[Field] ? Field : never }[keyof Shape]

type CellsOf<Cells extends z.ZodObject> = { [Field in keyof Cells['shape']]: Cell<Cells['shape'][Field]> }

type Required<Shape> = {
  readonly [Field in Exclude<keyof Shape, Optional<Shape>>]: Given<Shape[Field]> | null
}

type Fields<Shape> = Required<Shape> & { readonly [Field in Optional<Shape>]?: Given<Shape[Field]> | null }

type RecordOf<Cells extends z.ZodObject> = {
  /** The id of the record in the system that the file is from. */
  readonly external_id: string | number | null
} & Fields<CellsOf<Cells>>

type OneOrMore<Record> = Record | readonly (Record | null)[] | null

/** The records of a row by their entities, with the fields of docs/import.md. */
export type Records = {
  readonly departments?: OneOrMore<RecordOf<typeof departmentCells>>
  readonly doctors?: OneOrMore<RecordOf<typeof doctorCells>>
  readonly holidays?: OneOrMore<RecordOf<typeof holidayCells>>
  readonly rooms?: OneOrMore<RecordOf<typeof roomCells>>
  readonly treatments?: OneOrMore<RecordOf<typeof treatmentCells>>
  readonly 'price-lists'?: OneOrMore<RecordOf<typeof priceListCells>>
  readonly patients?: OneOrMore<RecordOf<typeof patientCells>>
  readonly appointments?: OneOrMore<RecordOf<typeof appointmentCells>>
  /** Line items of invoices in another file, under the external id of their invoice. */
  readonly 'line-items'?: OneOrMore<{
    readonly external_id: string | number | null
    readonly line_items: Given<z.output<typeof LineItems>>
  }>
  readonly invoices?: OneOrMore<RecordOf<typeof invoiceCells>>
  readonly payments?: OneOrMore<RecordOf<typeof paymentCells>>
  readonly messages?: OneOrMore<RecordOf<typeof messageCells>>
}

type KeysOf<Shape> = Shape extends unknown ? keyof Shape : never

type Part<Shape, Field extends PropertyKey> = Shape extends unknown
  ? Field extends keyof Shape
    ? Shape[Field]
    : never
  : never

type ItemOf<Shape> = Shape extends readonly (infer Item)[] ? Item : never

type ObjectOf<Shape> = Exclude<Shape, readonly unknown[] | string | number | boolean | null | undefined>

/** What was given, but never for fields that the shape does not have. */
export type Exactly<Given, Shape> = Given extends readonly (infer Item)[]
  ? readonly Exactly<Item, ItemOf<Shape>>[]
  : Given extends object
    ? {
        readonly [Field in keyof Given]: Field extends KeysOf<ObjectOf<Shape>>
          ? Exactly<Given[Field], Part<ObjectOf<Shape>, Field>>
          : never
      }
    : Given
