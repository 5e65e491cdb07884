/** The commands `list`, `show` and `find` of a resource. */
import type * as z from 'zod'
import type { RecordListQuery } from '../../../shared/api/record-lists.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { readFilteredList } from '../../../shared/requests/record-list.ts'
import type { CalendarFilter } from '../../../shared/store/calendar/calendar-filter.ts'
import type { ImportedKind } from '../../../shared/store/external-ids/derive.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { ClinicContext } from '../tool/connection.ts'

/** The envelope of a list of the API. */
export type RecordPage<Wire> = {
  readonly data: readonly Wire[]
  readonly meta: {
    readonly page?: number
    readonly total?: number
    readonly total_pages?: number
    readonly next_after?: string | null
    readonly has_more?: boolean
  }
}

/** The result of `find`: records, and how many were left out because too many match. */
export type Found<Wire> = {
  readonly data: readonly Wire[]
  readonly leftOut?: number
  /** What to do about those that were left out. */
  readonly notes?: readonly string[]
}

/** The commands of a resource: its words, and how they read its records. `Wire` is what the API returns. */
export type ResourceCommands<Wire> = {
  /** The group that the commands are added to. */
  readonly group: string
  readonly noun: string
  readonly plural: string
  /** The kind of external ids; undefined for records that are never imported. */
  readonly imported?: Exclude<ImportedKind, 'holiday'>
  readonly list?: ResourceList<Wire>
  /** Null for an unknown id. */
  readonly show: (context: ClinicContext, id: string) => Promise<Wire | null>
  /** The group defines `show` itself. */
  readonly hasOwnShow?: true
  /** The fields that the text of `find` is compared with. */
  readonly searched: string
  readonly find: (context: ClinicContext, text: string) => Promise<Found<Wire>>
  /** The fields of a record as text, if they differ from those of its JSON. */
  readonly describe?: (record: Wire) => object
  /** Lines have dates and times of the clinic's clock, without an offset. */
  readonly hasClockTimes?: true
  /** The cells of a line besides the id. */
  readonly cells: (record: Wire) => readonly string[]
}

type ListPart = { readonly data: readonly object[]; readonly lines: readonly string[] }

/** A list of the API: the schema of its query, and how it is read. */
export type ResourceList<Wire> = {
  readonly query: z.ZodObject
  /** A part of the list that the API does not have, which an option of its own selects. */
  readonly part?: {
    readonly option: string
    readonly description: string
    readonly read: (context: ClinicContext) => Promise<ListPart>
    /** Reads the part of all clinics, for `--all`. */
    readonly readAll?: (table: Table) => Promise<ListPart>
  }
  readonly read: (context: ClinicContext, query: never) => Promise<RecordPage<Wire>>
}

/** Reads the list of the API that a store and a filter make. */
export const readStore =
  <Q extends RecordListQuery, T, F extends CalendarFilter<string>, W>(
    list: string,
    open: (platform: { table: Table }) => Parameters<typeof readFilteredList<T, F, W>>[2],
    filterOf: (query: Q) => F,
    render: (record: T, clinic: Clinic) => W,
  ) =>
  ({ table, clinic }: ClinicContext, query: Q) =>
    readFilteredList(list, { clinic, query, now: Date.now() }, open({ table }), filterOf(query), (record) =>
      render(record, clinic),
    )
