/**
 * A client of the Clinic Developer API for servers: Node, Deno, Bun and workers. A credential gives access to a whole
 * clinic, so do not use the client in a browser. The types are generated from the API document (schema.ts).
 */
import { changesOf, type GetPage, pagesOf, recordsOf } from './lists.ts'
import type {
  Action,
  ActionOnPart,
  ActionWithBody,
  All,
  AllSlots,
  Call,
  Changes,
  Create,
  Get,
  List,
  Pages,
  Retrieve,
  RetrieveExpandable,
  RetrieveWithQuery,
  SlotPages,
  Slots,
  Update,
} from './methods.ts'
import type { Operation } from './operations.ts'
import { type ApiRequest, type ClientOptions, type SendRequest, transport } from './transport.ts'

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
export type { Call } from './methods.ts'
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

/** The methods of all endpoints. `Reads` as in the options of `createClient`. */
export interface Client<Reads extends boolean = true> extends ReturnType<typeof methodsOf<Reads>> {}

/**
 * Creates a client that uses a credential. Sends nothing.
 * @throws TypeError that names a wrong option
 */
export const createClient = <Reads extends boolean = true>(options: ClientOptions<Reads>): Client<Reads> =>
  methodsOf<Reads>(transport(options))

function methodsOf<Reads extends boolean>(send: SendRequest) {
  const requests = requestsOf<Reads>(send)
  const { get, slots, retrieve, listOf, retrieveExpandable, lists, listsWithChanges } = requests
  const { create, createPart, update, action, actionWithBody, actionOnPart } = requests
  return {
    /** The credential that the client uses. */
    me: get<'get-me'>('/me'),
    health: get<'get-health'>('/health'),
    clinic: get<'get-clinic'>('/clinic'),
    departments: {
      ...lists<'list-departments'>('/clinic/departments'),
      get: retrieve<'get-department'>('/clinic/departments/{id}'),
      create: create<'create-department'>('/clinic/departments'),
      update: update<'update-department'>('/clinic/departments/{id}'),
    },
    rooms: {
      ...lists<'list-rooms'>('/clinic/rooms'),
      get: retrieve<'get-room'>('/clinic/rooms/{id}'),
      create: create<'create-room'>('/clinic/rooms'),
      update: update<'update-room'>('/clinic/rooms/{id}'),
    },
    treatments: {
      ...lists<'list-treatments'>('/clinic/treatments'),
      get: retrieve<'get-treatment'>('/clinic/treatments/{id}'),
      create: create<'create-treatment'>('/clinic/treatments'),
      update: update<'update-treatment'>('/clinic/treatments/{id}'),
    },
    priceLists: {
      ...lists<'list-price-lists'>('/clinic/price-lists'),
      get: retrieve<'get-price-list'>('/clinic/price-lists/{id}'),
      create: create<'create-price-list'>('/clinic/price-lists'),
      update: update<'update-price-list'>('/clinic/price-lists/{id}'),
      delete: action<'delete-price-list'>('/clinic/price-lists/{id}', 'DELETE'),
    },
    holidays: {
      ...lists<'list-holidays'>('/clinic/holidays'),
      create: create<'create-holiday'>('/clinic/holidays'),
      delete: action<'delete-holiday'>('/clinic/holidays/{id}', 'DELETE'),
    },
    patients: {
      ...listsWithChanges<'list-patients'>('/patients'),
      get: retrieve<'get-patient'>('/patients/{id}'),
      create: create<'create-patient'>('/patients'),
      update: update<'update-patient'>('/patients/{id}'),
      deactivate: action<'deactivate-patient'>('/patients/{id}/deactivate'),
      activate: action<'activate-patient'>('/patients/{id}/activate'),
    },
    doctors: {
      ...lists<'list-doctors'>('/doctors'),
      get: retrieve<'get-doctor'>('/doctors/{id}'),
      create: create<'create-doctor'>('/doctors'),
      update: update<'update-doctor'>('/doctors/{id}'),
      timeOff: (id: string) => lists<'list-time-off'>('/doctors/{id}/time-off', { id }),
      createTimeOff: createPart<'create-time-off'>('/doctors/{id}/time-off'),
      deleteTimeOff: actionOnPart<'delete-time-off'>(
        '/doctors/{id}/time-off/{timeOffId}',
        'timeOffId',
        'DELETE',
      ),
      /** When a doctor works. */
      schedule: listOf<'get-schedule'>('/doctors/{id}/schedule'),
    },
    /** The free slots of a day or a range of days. */
    availability: slots('/availability'),
    /** Times that are kept for a visitor who fills in a form or pays. */
    holds: {
      create: create<'create-hold'>('/holds'),
      get: retrieve<'get-hold'>('/holds/{id}'),
      delete: action<'delete-hold'>('/holds/{id}', 'DELETE'),
    },
    appointments: {
      ...listsWithChanges<'list-appointments'>('/appointments'),
      get: retrieveExpandable<'get-appointment'>('/appointments/{id}'),
      book: create<'create-appointment'>('/appointments'),
      update: update<'update-appointment'>('/appointments/{id}'),
      confirm: action<'confirm-appointment'>('/appointments/{id}/confirm'),
      cancel: actionWithBody<'cancel-appointment'>('/appointments/{id}/cancel'),
      checkIn: action<'check-in-appointment'>('/appointments/{id}/check-in'),
      complete: action<'complete-appointment'>('/appointments/{id}/complete'),
      noShow: action<'no-show-appointment'>('/appointments/{id}/no-show'),
      reopen: action<'reopen-appointment'>('/appointments/{id}/reopen'),
    },
    invoices: {
      ...listsWithChanges<'list-invoices'>('/invoices'),
      get: retrieveExpandable<'get-invoice'>('/invoices/{id}'),
      create: create<'create-invoice'>('/invoices'),
      update: update<'update-invoice'>('/invoices/{id}'),
      send: action<'send-invoice'>('/invoices/{id}/send'),
      cancel: action<'cancel-invoice'>('/invoices/{id}/cancel'),
      payments: (id: string) => lists<'list-invoice-payments'>('/invoices/{id}/payments', { id }),
    },
    payments: {
      ...listsWithChanges<'list-payments'>('/payments'),
      get: retrieve<'get-payment'>('/payments/{id}'),
      create: create<'create-payment'>('/payments'),
      void: actionWithBody<'void-payment'>('/payments/{id}/void'),
    },
    messages: {
      ...listsWithChanges<'list-messages'>('/messages'),
      get: retrieve<'get-message'>('/messages/{id}'),
      send: create<'send-message'>('/messages'),
    },
    sync: { write: create<'sync-records'>('/sync', true) },
    webhooks: {
      ...lists<'list-webhooks'>('/webhooks'),
      get: retrieve<'get-webhook'>('/webhooks/{id}'),
      create: create<'create-webhook'>('/webhooks'),
      update: update<'update-webhook'>('/webhooks/{id}'),
      delete: action<'delete-webhook'>('/webhooks/{id}', 'DELETE'),
      rotateSecret: actionWithBody<'rotate-webhook-secret'>('/webhooks/{id}/rotate-secret'),
      ping: action<'ping-webhook'>('/webhooks/{id}/ping'),
      deliveries: (id: string) => lists<'list-deliveries'>('/webhooks/{id}/deliveries', { id }),
      redeliver: actionOnPart<'redeliver'>('/webhooks/{id}/deliveries/{deliveryId}/redeliver', 'deliveryId'),
    },
    events: lists<'list-events'>('/events'),
  }
}

/** The kinds of requests that the operations consist of. */
function requestsOf<Reads extends boolean>(send: SendRequest) {
  /** Sends a request. The body alone is awaited, unless `withResponse` is called. */
  function call<T>(request: ApiRequest): Call<T> {
    const response = send<T>(request)
    const body: Promise<T> = response.then((complete) => complete.body)
    const withResponse = () => {
      // Its rejection is that of the response.
      body.catch(() => {})
      return response
    }
    return Object.assign(body, { withResponse })
  }

  const pageRequest =
    (path: string, ids?: Record<string, unknown>): GetPage =>
    (query, signal) =>
      call({ method: 'GET', path, ids, query, isList: true, options: { signal } })

  const lists = <O extends Operation>(path: string, ids?: Record<string, unknown>) => ({
    list: ((query, options) => call({ method: 'GET', path, ids, query, isList: true, options })) as List<O>,
    pages: ((query, options) => pagesOf(pageRequest(path, ids), query, options?.signal)) as Pages<O>,
    all: ((query, options) => recordsOf(pagesOf(pageRequest(path, ids), query, options?.signal))) as All<O>,
  })

  return {
    get:
      <O extends Operation>(path: string): Get<O> =>
      (options) =>
        call({ method: 'GET', path, options }),
    slots: (path: string) => ({
      get: ((query, options) => call({ method: 'GET', path, query, isList: true, options })) as Slots,
      pages: ((query, options) => pagesOf(pageRequest(path), query, options?.signal)) as SlotPages,
      all: ((query, options) => recordsOf(pagesOf(pageRequest(path), query, options?.signal))) as AllSlots,
    }),
    retrieve:
      <O extends Operation>(path: string): Retrieve<O> =>
      (id, options) =>
        call({ method: 'GET', path, ids: { id }, options }),
    listOf:
      <O extends Operation>(path: string): RetrieveWithQuery<O> =>
      (id, query, options) =>
        call({ method: 'GET', path, ids: { id }, query, isList: true, options }),
    retrieveExpandable:
      <O extends Operation>(path: string): RetrieveExpandable<O> =>
      (id, query, options) =>
        call({ method: 'GET', path, ids: { id }, query, options }),
    create:
      <O extends Operation>(path: string, isList = false): Create<O, Reads> =>
      (body, options) =>
        call({ method: 'POST', path, body, isList, options }),
    update:
      <O extends Operation>(path: string): Update<O, Reads> =>
      (id, body, options) =>
        call({ method: 'PATCH', path, ids: { id }, body, options }),
    action:
      <O extends Operation>(path: string, method: 'POST' | 'DELETE' = 'POST'): Action<O, Reads> =>
      (id, options) =>
        call({ method, path, ids: { id }, options }),
    actionWithBody:
      <O extends Operation>(path: string): ActionWithBody<O, Reads> =>
      (id, body, options) =>
        call({ method: 'POST', path, ids: { id }, body, options }),
    createPart:
      <O extends Operation>(path: string): Update<O, Reads> =>
      (id, body, options) =>
        call({ method: 'POST', path, ids: { id }, body, options }),
    actionOnPart:
      <O extends Operation>(
        path: string,
        part: string,
        method: 'POST' | 'DELETE' = 'POST',
      ): ActionOnPart<O> =>
      (id, partId, options) =>
        call({ method, path, ids: { id, [part]: partId }, options }),
    lists,
    listsWithChanges: <O extends Operation>(path: string) => ({
      ...lists<O>(path),
      changes: ((options) => changesOf(pageRequest(path), options)) as Changes<O>,
    }),
  }
}
