/** The types of requests and responses, read from those that are generated from the API document. */
import type { components, operations } from './schema.ts'

export type Schemas = components['schemas']
/** An `operationId` of the API document. */
export type Operation = keyof operations

type Parameters_<O extends Operation> = operations[O] extends { parameters: infer P } ? P : never
type HeaderName<O extends Operation> =
  Parameters_<O> extends { header?: infer H } ? ([NonNullable<H>] extends [never] ? never : keyof H) : never
/** The query parameters of an operation. */
export type Query<O extends Operation> = Parameters_<O> extends { query?: infer Q } ? NonNullable<Q> : never
/** The request body of an operation. */
export type Body<O extends Operation> = operations[O] extends {
  requestBody?: { content: { 'application/json': infer B } }
}
  ? B
  : operations[O] extends { requestBody: { content: { 'application/json': infer B } } }
    ? B
    : never

/** What a call takes after its ids and its body or query. */
export type RequestOptions<O extends Operation> = {
  /** Ends the call, and the wait before a retry. */
  readonly signal?: AbortSignal
} & ('idempotency-key' extends HeaderName<O>
  ? {
      /** The Idempotency-Key: 1 to 255 visible ASCII characters. Defaults to a random one. */
      readonly idempotencyKey?: string
    }
  : unknown) &
  ('if-match' extends HeaderName<O>
    ? {
        /**
         * The `etag` of the record, from `withResponse()`: if the record has changed since, nothing is changed and the call throws a
         * `PreconditionFailedError`. An etag that is null throws a `TypeError`, because the condition would be lost.
         */
        readonly ifMatch?: string | null
      }
    : unknown)

type Responses<O extends Operation> = operations[O] extends { responses: infer R } ? R : never
type Json<A> = A extends { content: { 'application/json': infer J } } ? J : undefined
type WholeRecord = Schemas['PatientDetails' | 'Appointment' | 'Doctor']
/** Of the response to a change, the whole record, or what a credential that cannot read records gets. */
type ByAccess<B, Reads extends boolean> = B extends { data: infer D }
  ? [Extract<D, WholeRecord>] extends [never]
    ? B
    : Omit<B, 'data'> & {
        data: Reads extends true ? Extract<D, WholeRecord> : Exclude<D, WholeRecord>
      }
  : B
/** The body of an operation's successful response. `Reads` as in the options of `createClient`. */
export type ResponseBody<O extends Operation, Reads extends boolean = true> = ByAccess<
  {
    [status in keyof Responses<O>]: status extends 200 | 201 | 202 | 204 ? Json<Responses<O>[status]> : never
  }[keyof Responses<O>],
  Reads
>

export type Cursor = string | null | undefined
export type Since = string | undefined
export type Expand = 'patient' | undefined
export type Filter = string | undefined

/** The query of a list. The types of three parameters decide what the response has. */
export type ListQuery<O extends Operation, A extends Cursor, S extends Since, E extends Expand> = Omit<
  Query<O>,
  'after' | 'updated_since' | 'expand'
> &
  ('after' extends keyof Query<O> ? { readonly after?: A } : unknown) &
  ('updated_since' extends keyof Query<O> ? { readonly updated_since?: S } : unknown) &
  ('expand' extends keyof Query<O> ? { readonly expand?: E } : unknown)

type Body_<O extends Operation> =
  ResponseBody<O> extends infer B extends { data: object[]; meta: object } ? B : never
/** With `expand=patient`, `patient` of a record has all fields of a patient, otherwise only those that identify the patient. */
export type Expanded<T, E extends Expand> = T extends { data: infer D }
  ? { data: Expanded<D, E> }
  : T extends { patient: infer P }
    ? Omit<T, 'patient'> & {
        patient: E extends 'patient'
          ? Extract<P, { phone_number: unknown }>
          : Exclude<P, { phone_number: unknown }>
      }
    : T
/** A record of a list. */
export type ListItem<O extends Operation, E extends Expand = undefined> = 'expand' extends keyof Query<O>
  ? Expanded<Body_<O>['data'][number], E>
  : Body_<O>['data'][number]
type Sent<M, N> = Required<Pick<M, Extract<keyof M, N>>>
type Meta<M, A extends Cursor, S extends Since> = 'as_of' extends keyof M
  ? S extends string
    ? Sent<M, 'limit' | 'next_after' | 'has_more' | 'as_of'>
    : A extends string
      ? Sent<M, 'limit' | 'next_after' | 'has_more'>
      : Sent<M, 'page' | 'limit' | 'total' | 'total_pages' | 'next_after'>
  : M
/** One page of a list. */
export type Page<
  O extends Operation,
  A extends Cursor = undefined,
  S extends Since = undefined,
  E extends Expand = undefined,
> = { data: ListItem<O, E>[]; meta: Meta<Body_<O>['meta'], A, S> }

type Availability = ResponseBody<'get-availability'>
/** The query of free slots. The types of two parameters decide what a slot has. */
export type SlotQuery<To extends Filter, Doctor extends Filter> = Omit<
  Query<'get-availability'>,
  'date_to' | 'doctor_id'
> & { readonly date_to?: To; readonly doctor_id?: Doctor }
/** A free slot: of a range of days with its date, of several doctors with its doctor. */
export type Slot<To extends Filter, Doctor extends Filter> = Availability['data'][number] &
  ([To] extends [string] ? Sent<Availability['data'][number], 'date'> : unknown) &
  ([Doctor] extends [undefined] ? Sent<Availability['data'][number], 'doctor'> : unknown)
/** A page of free slots. */
export type SlotPage<To extends Filter, Doctor extends Filter> = {
  data: Slot<To, Doctor>[]
  meta: Availability['meta']
}

/** A page of `changes`. */
export type ChangesPage<O extends Operation> = Page<O, undefined, string> & {
  /** Where the list continues after this page: store it together with the records, and pass it as `since` to continue. */
  position: string
}
