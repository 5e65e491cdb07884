/**
 * A client of the Clinic Developer API for servers: Node, Deno, Bun and workers. A credential gives access to a whole
 * clinic, so do not use the client in a browser. The types are generated from the API document (schema.ts).
 */
import { type ChangesOptions, changesOf, type GetPage, pagesOf, recordsOf } from './lists.ts'
import type {
  Body,
  ChangesPage,
  Cursor,
  Expand,
  Expanded,
  ListItem,
  ListQuery,
  Operation,
  Page,
  Query,
  RequestOptions,
  ResponseBody,
  Since,
} from './operations.ts'
import {
  type ApiRequest,
  type ApiResponse,
  type ClientOptions,
  type SendRequest,
  transport,
} from './transport.ts'

export {
  AbortError,
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionFailedError,
  type ErrorKey,
  NoResponseError,
  NotFoundError,
  PermissionDeniedError,
  PreconditionFailedError,
  RateLimitError,
  RequestTimeoutError,
  ServerError,
  UnexpectedResponseError,
  ValidationError,
} from './errors.ts'
export type { ChangesOptions } from './lists.ts'
export type {
  Body,
  ChangesPage,
  ListItem,
  Operation,
  Page,
  Query,
  RequestOptions,
  ResponseBody,
} from './operations.ts'
export type { components } from './schema.ts'
export type { ApiResponse, CachedResponse, ClientOptions, ResponseCache } from './transport.ts'
export { type SignedDelivery, verifyWebhook, type WebhookEvent, WebhookVerificationError } from './webhook.ts'

/** A promise of the body of a response, or with its headers, of the whole response. */
export type Call<T> = Promise<T> & { readonly withResponse: () => Promise<ApiResponse<T>> }

export type Client<Reads extends boolean = true> = ReturnType<typeof createClient<Reads>>

/**
 * Creates a client that uses a credential. Sends nothing.
 * @throws TypeError that names a wrong option
 */
export function createClient<Reads extends boolean = true>(options: ClientOptions<Reads>) {
  const requests = requestsOf<Reads>(transport(options))
  const { get, search, record, expandable, create, update, action, actionWith, remove, lists, changing } =
    requests
  const redeliver = action<'redeliver'>('/webhooks/{id}/deliveries/{deliveryId}/redeliver')
  return {
    /** The credential that the client uses. */
    me: get<'get-me'>('/me'),
    health: get<'get-health'>('/health'),
    clinic: get<'get-clinic'>('/clinic'),
    departments: {
      ...lists<'list-departments'>('/clinic/departments'),
      get: record<'get-department'>('/clinic/departments/{id}'),
    },
    rooms: { ...lists<'list-rooms'>('/clinic/rooms'), get: record<'get-room'>('/clinic/rooms/{id}') },
    treatments: {
      ...lists<'list-treatments'>('/clinic/treatments'),
      get: record<'get-treatment'>('/clinic/treatments/{id}'),
    },
    priceLists: lists<'list-price-lists'>('/clinic/price-lists'),
    patients: {
      ...changing<'list-patients'>('/patients'),
      get: record<'get-patient'>('/patients/{id}'),
      create: create<'create-patient'>('/patients'),
      update: update<'update-patient'>('/patients/{id}'),
      deactivate: action<'deactivate-patient'>('/patients/{id}/deactivate'),
      activate: action<'activate-patient'>('/patients/{id}/activate'),
    },
    doctors: { ...lists<'list-doctors'>('/doctors'), get: record<'get-doctor'>('/doctors/{id}') },
    /** The free slots of a day or a range of days. `meta.next_after` continues a range with many slots. */
    availability: { get: search<'get-availability'>('/availability') },
    appointments: {
      ...changing<'list-appointments'>('/appointments'),
      get: expandable<'get-appointment'>('/appointments/{id}'),
      book: create<'create-appointment'>('/appointments'),
      update: update<'update-appointment'>('/appointments/{id}'),
      confirm: action<'confirm-appointment'>('/appointments/{id}/confirm'),
      cancel: actionWith<'cancel-appointment'>('/appointments/{id}/cancel'),
      checkIn: action<'check-in-appointment'>('/appointments/{id}/check-in'),
      complete: action<'complete-appointment'>('/appointments/{id}/complete'),
      noShow: action<'no-show-appointment'>('/appointments/{id}/no-show'),
      reopen: action<'reopen-appointment'>('/appointments/{id}/reopen'),
    },
    invoices: {
      ...changing<'list-invoices'>('/invoices'),
      get: expandable<'get-invoice'>('/invoices/{id}'),
      payments: (id: string) => lists<'list-invoice-payments'>('/invoices/{id}/payments', { id }),
    },
    payments: { ...changing<'list-payments'>('/payments'), get: record<'get-payment'>('/payments/{id}') },
    messages: {
      ...changing<'list-messages'>('/messages'),
      get: record<'get-message'>('/messages/{id}'),
      send: create<'send-message'>('/messages'),
    },
    webhooks: {
      ...lists<'list-webhooks'>('/webhooks'),
      get: record<'get-webhook'>('/webhooks/{id}'),
      create: create<'create-webhook'>('/webhooks'),
      update: update<'update-webhook'>('/webhooks/{id}'),
      delete: remove<'delete-webhook'>('/webhooks/{id}'),
      rotateSecret: actionWith<'rotate-webhook-secret'>('/webhooks/{id}/rotate-secret'),
      ping: action<'ping-webhook'>('/webhooks/{id}/ping'),
      deliveries: (id: string) => lists<'list-deliveries'>('/webhooks/{id}/deliveries', { id }),
      redeliver: (id: string, deliveryId: string, options?: RequestOptions<'redeliver'>) =>
        redeliver(id, options, { deliveryId }),
    },
    events: lists<'list-events'>('/events'),
  }
}

/** The kinds of requests that the operations consist of. */
function requestsOf<Reads extends boolean>(send: SendRequest) {
  /** Sends a request. The body alone is awaited, unless `withResponse` is called. */
  function call<T>(request: ApiRequest): Call<T> {
    const response = send(request) as Promise<ApiResponse<T>>
    const body: Promise<T> = response.then((complete) => complete.body)
    const withResponse = () => {
      // Its rejection is that of the response.
      body.catch(() => {})
      return response
    }
    return Object.assign(body, { withResponse })
  }

  const get =
    <O extends Operation>(path: string) =>
    (options?: RequestOptions<O>): Call<ResponseBody<O>> =>
      call({ method: 'GET', path, options })

  const search =
    <O extends Operation>(path: string) =>
    (query: Query<O>, options?: RequestOptions<O>): Call<ResponseBody<O>> =>
      call({ method: 'GET', path, query, options })

  /** Retrieves one record by its id. */
  const record =
    <O extends Operation>(path: string) =>
    (id: string, options?: RequestOptions<O>): Call<ResponseBody<O>> =>
      call({ method: 'GET', path, ids: { id }, options })

  /** Retrieves one record, with all fields of its patient if `expand` asks for them. */
  const expandable =
    <O extends Operation>(path: string) =>
    <E extends 'patient' | undefined = undefined>(
      id: string,
      query?: { readonly expand?: E },
      options?: RequestOptions<O>,
    ): Call<Expanded<ResponseBody<O>, E>> =>
      call({ method: 'GET', path, ids: { id }, query, options })

  const create =
    <O extends Operation>(path: string) =>
    (body: Body<O>, options?: RequestOptions<O>): Call<ResponseBody<O, Reads>> =>
      call({ method: 'POST', path, body, options })

  const update =
    <O extends Operation>(path: string) =>
    (id: string, body: Body<O>, options?: RequestOptions<O>): Call<ResponseBody<O, Reads>> =>
      call({ method: 'PATCH', path, ids: { id }, body, options })

  const action =
    <O extends Operation>(path: string) =>
    (id: string, options?: RequestOptions<O>, ids?: object): Call<ResponseBody<O, Reads>> =>
      call({ method: 'POST', path, ids: { id, ...ids }, options })

  const actionWith =
    <O extends Operation>(path: string) =>
    (id: string, body?: Body<O>, options?: RequestOptions<O>): Call<ResponseBody<O, Reads>> =>
      call({ method: 'POST', path, ids: { id }, body, options })

  const remove =
    <O extends Operation>(path: string) =>
    (id: string, options?: RequestOptions<O>): Call<undefined> =>
      call({ method: 'DELETE', path, ids: { id }, options })

  /** A list: `list` requests one page, `pages` iterates over all pages, and `all` over the records of all pages. */
  function lists<O extends Operation>(path: string, ids?: Record<string, unknown>) {
    const request: GetPage = (query, signal) => call({ method: 'GET', path, ids, query, options: { signal } })
    return {
      list: <A extends Cursor = undefined, S extends Since = undefined, E extends Expand = undefined>(
        query?: ListQuery<O, A, S, E>,
        options?: RequestOptions<O>,
      ): Call<Page<O, A, S, E>> => call({ method: 'GET', path, ids, query, options }),
      pages: <A extends Cursor = undefined, S extends Since = undefined, E extends Expand = undefined>(
        query?: Omit<ListQuery<O, A, S, E>, 'page'>,
        options?: RequestOptions<O>,
      ) => pagesOf(request, query, options?.signal) as AsyncGenerator<Page<O, A, S, E>>,
      all: <A extends Cursor = undefined, S extends Since = undefined, E extends Expand = undefined>(
        query?: Omit<ListQuery<O, A, S, E>, 'page'>,
        options?: RequestOptions<O>,
      ) => recordsOf(pagesOf(request, query, options?.signal)) as AsyncGenerator<ListItem<O, E>>,
    }
  }

  /** A list that also has `changes`: the pages of the records that were changed since a time. */
  const changing = <O extends Operation>(path: string) => ({
    ...lists<O>(path),
    changes: (options: ChangesOptions) =>
      changesOf(
        (query, signal) => call({ method: 'GET', path, query, options: { signal } }),
        options,
      ) as AsyncGenerator<ChangesPage<O>>,
  })

  return { get, search, record, expandable, create, update, action, actionWith, remove, lists, changing }
}
