/** The methods of the client. Each takes the ids of its path, then the body or the query, then options. */
import type { ChangesOptions } from './lists.ts'
import type {
  Body,
  ChangesPage,
  Cursor,
  Expand,
  Expanded,
  Filter,
  ListItem,
  ListQuery,
  Operation,
  Page,
  Query,
  RequestOptions,
  ResponseBody,
  Since,
  Slot,
  SlotPage,
  SlotQuery,
} from './operations.ts'
import type { ApiResponse } from './transport.ts'

/** A promise of the body of a response, or with its headers, of the whole response. */
export type Call<T> = Promise<T> & { readonly withResponse: () => Promise<ApiResponse<T>> }

export type Get<O extends Operation> = (options?: RequestOptions<O>) => Call<ResponseBody<O>>
/** Requests one page of free slots. */
export type Slots = <To extends Filter = undefined, Doctor extends Filter = undefined>(
  query: SlotQuery<To, Doctor>,
  options?: RequestOptions<'get-availability'>,
) => Call<SlotPage<To, Doctor>>
/** Iterates over the pages of free slots, of 100 unless `limit` says otherwise. */
export type SlotPages = <To extends Filter = undefined, Doctor extends Filter = undefined>(
  query: Omit<SlotQuery<To, Doctor>, 'after'>,
  options?: RequestOptions<'get-availability'>,
) => AsyncGenerator<SlotPage<To, Doctor>, void, undefined>
/** Iterates over the free slots of all pages. */
export type AllSlots = <To extends Filter = undefined, Doctor extends Filter = undefined>(
  query: Omit<SlotQuery<To, Doctor>, 'after'>,
  options?: RequestOptions<'get-availability'>,
) => AsyncGenerator<Slot<To, Doctor>, void, undefined>
export type Retrieve<O extends Operation> = (id: string, options?: RequestOptions<O>) => Call<ResponseBody<O>>
export type RetrieveWithQuery<O extends Operation> = (
  id: string,
  query: Query<O>,
  options?: RequestOptions<O>,
) => Call<ResponseBody<O>>
/** With `{ expand: 'patient' }`, `patient` of the record has all fields of a patient. */
export type RetrieveExpandable<O extends Operation> = <E extends Expand = undefined>(
  id: string,
  query?: { readonly expand?: E },
  options?: RequestOptions<O>,
) => Call<Expanded<ResponseBody<O>, E>>
export type Create<O extends Operation, Reads extends boolean> = (
  body: Body<O>,
  options?: RequestOptions<O>,
) => Call<ResponseBody<O, Reads>>
export type Update<O extends Operation, Reads extends boolean> = (
  id: string,
  body: Body<O>,
  options?: RequestOptions<O>,
) => Call<ResponseBody<O, Reads>>
export type Action<O extends Operation, Reads extends boolean> = (
  id: string,
  options?: RequestOptions<O>,
) => Call<ResponseBody<O, Reads>>
export type ActionWithBody<O extends Operation, Reads extends boolean> = (
  id: string,
  body?: Body<O>,
  options?: RequestOptions<O>,
) => Call<ResponseBody<O, Reads>>
export type ActionOnPart<O extends Operation> = (
  id: string,
  partId: string,
  options?: RequestOptions<O>,
) => Call<ResponseBody<O>>

/** Requests one page. */
export type List<O extends Operation> = <
  A extends Cursor = undefined,
  S extends Since = undefined,
  E extends Expand = undefined,
>(
  query?: ListQuery<O, A, S, E>,
  options?: RequestOptions<O>,
) => Call<Page<O, A, S, E>>
/** Iterates over the pages of the list, of 100 records unless `limit` says otherwise. */
export type Pages<O extends Operation> = <
  A extends Cursor = undefined,
  S extends Since = undefined,
  E extends Expand = undefined,
>(
  query?: Omit<ListQuery<O, A, S, E>, 'page'>,
  options?: RequestOptions<O>,
) => AsyncGenerator<Page<O, A, S, E>, void, undefined>
/** Iterates over the records of all pages. */
export type All<O extends Operation> = <
  A extends Cursor = undefined,
  S extends Since = undefined,
  E extends Expand = undefined,
>(
  query?: Omit<ListQuery<O, A, S, E>, 'page'>,
  options?: RequestOptions<O>,
) => AsyncGenerator<ListItem<O, E>, void, undefined>
/** Iterates over the pages of the records that were changed since a time. */
export type Changes<O extends Operation> = (
  options: ChangesOptions,
) => AsyncGenerator<ChangesPage<O>, void, undefined>
