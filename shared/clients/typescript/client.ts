/**
 * A client of the Clinic Developer API for servers: Node, Deno, Bun and workers. A credential gives access to a whole
 * clinic, so do not use the client in a browser. The types are generated from the API document (schema.ts).
 */
import type { components, operations } from './schema.ts'
import { type ClientOptions, type RequestOptions, type SendRequest, transport } from './transport.ts'

export { ApiError } from './errors.ts'
export type { components } from './schema.ts'
export type { CachedResponse, ClientOptions, RequestOptions, ResponseCache } from './transport.ts'
export { type SignedDelivery, verifyWebhook } from './webhook.ts'

type Operation = keyof operations
type Parameters_<O extends Operation> = operations[O] extends { parameters: infer P } ? P : never
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
type Responses<O extends Operation> = operations[O] extends { responses: infer R } ? R : never
type Json<A> = A extends { content: { 'application/json': infer J } } ? J : undefined
type Whole = components['schemas']['PatientDetails' | 'Appointment']
/** Without the references to records, which a credential that may not read them gets from a change. */
type WholeRecords<B> = B extends { data: infer D }
  ? [Extract<D, Whole>] extends [never]
    ? B
    : Omit<B, 'data'> & { data: Extract<D, Whole> }
  : B
/** The body of an operation's successful response, for a credential that has the read scope of its records, too. */
export type ResponseBody<O extends Operation> = WholeRecords<
  {
    [status in keyof Responses<O>]: status extends 200 | 201 | 202 ? Json<Responses<O>[status]> : never
  }[keyof Responses<O>]
>
type ListItem<O extends Operation> = ResponseBody<O> extends { data: (infer T)[] } ? T : never

export type Client = ReturnType<typeof createClient>

/** Creates a client that uses a credential. Sends nothing. */
export function createClient(options: ClientOptions) {
  const send = transport(options)
  const { get, post, patch, record, pages, cursorList } = requestsOf(send)
  const appointmentAction =
    <O extends Operation>(action: string) =>
    (id: string, body: Body<O> = {} as Body<O>, requestOptions?: RequestOptions) =>
      post<O>(`/appointments/${id}/${action}`, body as object, requestOptions)

  return {
    /** The credential that the client uses. */
    me: (requestOptions?: RequestOptions) => get<'get-me'>('/me', undefined, requestOptions),
    health: (requestOptions?: RequestOptions) => get<'get-health'>('/health', undefined, requestOptions),
    clinic: (requestOptions?: RequestOptions) => get<'get-clinic'>('/clinic', undefined, requestOptions),
    departments: {
      ...pages<'list-departments'>('/clinic/departments'),
      get: record<'get-department'>('/clinic/departments'),
    },
    rooms: { ...pages<'list-rooms'>('/clinic/rooms'), get: record<'get-room'>('/clinic/rooms') },
    treatments: {
      ...pages<'list-treatments'>('/clinic/treatments'),
      get: record<'get-treatment'>('/clinic/treatments'),
    },
    priceLists: pages<'list-price-lists'>('/clinic/price-lists'),
    patients: {
      ...pages<'list-patients'>('/patients'),
      get: record<'get-patient'>('/patients'),
      create: (body: Body<'create-patient'>, requestOptions?: RequestOptions) =>
        post<'create-patient'>('/patients', body, requestOptions),
      update: (id: string, body: Body<'update-patient'>, requestOptions?: RequestOptions) =>
        patch<'update-patient'>(`/patients/${id}`, body, requestOptions),
      deactivate: (id: string, requestOptions?: RequestOptions) =>
        post<'deactivate-patient'>(`/patients/${id}/deactivate`, {}, requestOptions),
      activate: (id: string, requestOptions?: RequestOptions) =>
        post<'activate-patient'>(`/patients/${id}/activate`, {}, requestOptions),
    },
    doctors: { ...pages<'list-doctors'>('/doctors'), get: record<'get-doctor'>('/doctors') },
    availability: {
      get: (query: Query<'get-availability'>, requestOptions?: RequestOptions) =>
        get<'get-availability'>('/availability', query, requestOptions),
    },
    appointments: {
      ...pages<'list-appointments'>('/appointments'),
      get: record<'get-appointment'>('/appointments'),
      book: (body: Body<'create-appointment'>, requestOptions?: RequestOptions) =>
        post<'create-appointment'>('/appointments', body, requestOptions),
      update: (id: string, body: Body<'update-appointment'>, requestOptions?: RequestOptions) =>
        patch<'update-appointment'>(`/appointments/${id}`, body, requestOptions),
      confirm: appointmentAction<'confirm-appointment'>('confirm'),
      cancel: appointmentAction<'cancel-appointment'>('cancel'),
      checkIn: appointmentAction<'check-in-appointment'>('check-in'),
      complete: appointmentAction<'complete-appointment'>('complete'),
      noShow: appointmentAction<'no-show-appointment'>('no-show'),
      reopen: appointmentAction<'reopen-appointment'>('reopen'),
    },
    invoices: {
      ...pages<'list-invoices'>('/invoices'),
      get: record<'get-invoice'>('/invoices'),
      payments: (id: string) => pages<'list-invoice-payments'>(`/invoices/${id}/payments`),
    },
    payments: { ...pages<'list-payments'>('/payments'), get: record<'get-payment'>('/payments') },
    messages: {
      ...pages<'list-messages'>('/messages'),
      get: record<'get-message'>('/messages'),
      send: (body: Body<'send-message'>, requestOptions?: RequestOptions) =>
        post<'send-message'>('/messages', body, requestOptions),
    },
    webhooks: {
      ...pages<'list-webhooks'>('/webhooks'),
      get: record<'get-webhook'>('/webhooks'),
      create: (body: Body<'create-webhook'>, requestOptions?: RequestOptions) =>
        post<'create-webhook'>('/webhooks', body, requestOptions),
      update: (id: string, body: Body<'update-webhook'>, requestOptions?: RequestOptions) =>
        patch<'update-webhook'>(`/webhooks/${id}`, body, requestOptions),
      delete: async (id: string, requestOptions?: RequestOptions): Promise<void> => {
        await send({ method: 'DELETE', path: `/webhooks/${id}`, ...requestOptions })
      },
      rotateSecret: (id: string, body: Body<'rotate-webhook-secret'> = {}, requestOptions?: RequestOptions) =>
        post<'rotate-webhook-secret'>(`/webhooks/${id}/rotate-secret`, body, requestOptions),
      ping: (id: string, requestOptions?: RequestOptions) =>
        post<'ping-webhook'>(`/webhooks/${id}/ping`, {}, requestOptions),
      deliveries: (id: string) => cursorList<'list-deliveries'>(`/webhooks/${id}/deliveries`),
      redeliver: (id: string, delivery: string, requestOptions?: RequestOptions) =>
        post<'redeliver'>(`/webhooks/${id}/deliveries/${delivery}/redeliver`, {}, requestOptions),
    },
    events: cursorList<'list-events'>('/events'),
  }
}

/** The kinds of requests that the operations consist of. */
function requestsOf(send: SendRequest) {
  const get = <O extends Operation>(path: string, query?: object, requestOptions?: RequestOptions) =>
    send({ method: 'GET', path, query, ...requestOptions }) as Promise<ResponseBody<O>>
  /** Retrieves one record by its id. */
  const record =
    <O extends Operation>(path: string) =>
    (id: string, requestOptions?: RequestOptions, query?: Query<O>) =>
      get<O>(`${path}/${id}`, query, requestOptions)
  const post = <O extends Operation>(path: string, body?: object, requestOptions?: RequestOptions) =>
    send({ method: 'POST', path, body, ...requestOptions }) as Promise<ResponseBody<O>>

  const patch = <O extends Operation>(path: string, body: object, requestOptions?: RequestOptions) =>
    send({ method: 'PATCH', path, body, ...requestOptions }) as Promise<ResponseBody<O>>

  /**
   * A paginated list: `list` returns one page, `all` iterates over the records of all pages. `all` continues by cursor where
   * the list has one, so that it skips and repeats no record while others are added or removed.
   */
  const pages = <O extends Operation>(path: string) => ({
    list: (query: Query<O> = {} as Query<O>, requestOptions?: RequestOptions) =>
      get<O>(path, query as object, requestOptions),
    all: async function* (query: Omit<Query<O>, 'page'> = {} as never): AsyncGenerator<ListItem<O>> {
      for (let page = 1, position: object | null = {}; position; page++) {
        const response = (await get<O>(path, { limit: 100, ...query, ...position })) as unknown as {
          data: ListItem<O>[]
          meta: { total_pages?: number; next_after?: string | null }
        }
        yield* response.data
        const { next_after: after, total_pages: last = 0 } = response.meta
        position = after ? { after } : after === undefined && page < last ? { page: page + 1 } : null
      }
    },
  })

  /**
   * A list with a cursor: `list` returns one page, `all` iterates over the items from `after` (or the beginning) to the
   * present end. To continue later, use `list` and store `meta.next_after`.
   */
  const cursorList = <O extends Operation>(path: string) => ({
    list: (query: Query<O> = {} as Query<O>, requestOptions?: RequestOptions) =>
      get<O>(path, query as object, requestOptions),
    all: async function* (query: Query<O> = {} as Query<O>): AsyncGenerator<ListItem<O>> {
      for (let after: string | null | undefined, hasMore = true; hasMore; ) {
        const response = (await get<O>(path, {
          limit: 100,
          ...(query as object),
          ...(after && { after }),
        })) as unknown as {
          data: ListItem<O>[]
          meta: { next_after: string | null; has_more: boolean }
        }
        yield* response.data
        after = response.meta.next_after
        hasMore = response.meta.has_more
      }
    },
  })

  return { get, post, patch, record, pages, cursorList }
}
