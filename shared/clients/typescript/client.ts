/**
 * The Clinic Developer API for servers: Node, Deno, Bun, workers. A credential acts for a whole clinic and has no place in a
 * browser. Types come from the API's document (schema.ts, generated).
 */
import type { operations } from './schema.ts'
import { type ClientOptions, type RequestOptions, transport } from './transport.ts'

export { ApiError } from './errors.ts'
export type { components } from './schema.ts'
export type { ClientOptions, RequestOptions } from './transport.ts'
export { type SignedDelivery, verifyWebhook } from './webhook.ts'

type Operation = keyof operations
type Parameters_<O extends Operation> = operations[O] extends { parameters: infer P } ? P : never
/** The query parameters of an operation. */
export type Query<O extends Operation> = Parameters_<O> extends { query?: infer Q } ? NonNullable<Q> : never
/** The body of a request. */
export type Body<O extends Operation> = operations[O] extends {
  requestBody?: { content: { 'application/json': infer B } }
}
  ? B
  : operations[O] extends { requestBody: { content: { 'application/json': infer B } } }
    ? B
    : never
type Answers<O extends Operation> = operations[O] extends { responses: infer R } ? R : never
type Json<A> = A extends { content: { 'application/json': infer J } } ? J : undefined
/** What an operation answers when it succeeds. */
export type Answer<O extends Operation> = {
  [status in keyof Answers<O>]: status extends 200 | 201 | 202 ? Json<Answers<O>[status]> : never
}[keyof Answers<O>]
type Listed<O extends Operation> = Answer<O> extends { data: (infer T)[] } ? T : never

export type Client = ReturnType<typeof createClient>

/** Opens the API with a credential. Nothing is sent yet. */
export function createClient(options: ClientOptions) {
  const send = transport(options)

  const get = <O extends Operation>(path: string, query?: object, more?: RequestOptions) =>
    send({ method: 'GET', path, query, ...more }) as Promise<Answer<O>>
  const post = <O extends Operation>(path: string, body?: object, more?: RequestOptions) =>
    send({ method: 'POST', path, body, ...more }) as Promise<Answer<O>>

  /** A list by pages: `list` for one, `all` for every record of all of them. */
  const pages = <O extends Operation>(path: string) => ({
    list: (query: Query<O> = {} as Query<O>, more?: RequestOptions) => get<O>(path, query as object, more),
    all: async function* (query: Omit<Query<O>, 'page'> = {} as never): AsyncGenerator<Listed<O>> {
      for (let page = 1, last = 1; page <= last; page++) {
        const answer = (await get<O>(path, { limit: 100, ...query, page })) as unknown as {
          data: Listed<O>[]
          meta: { total_pages: number }
        }
        yield* answer.data
        last = answer.meta.total_pages
      }
    },
  })

  /** A log by its cursor: `list` for one answer, `all` for everything there is now. */
  const log = <O extends Operation>(path: string) => ({
    list: (query: Query<O> = {} as Query<O>, more?: RequestOptions) => get<O>(path, query as object, more),
    all: async function* (query: Query<O> = {} as Query<O>): AsyncGenerator<Listed<O>> {
      for (let after: string | null | undefined, more = true; more; ) {
        const answer = (await get<O>(path, {
          limit: 100,
          ...(query as object),
          ...(after && { after }),
        })) as unknown as {
          data: Listed<O>[]
          meta: { next_after: string | null; has_more: boolean }
        }
        yield* answer.data
        after = answer.meta.next_after
        more = answer.meta.has_more
      }
    },
  })

  return {
    patients: {
      ...pages<'list-patients'>('/patients'),
      get: (id: string, more?: RequestOptions) => get<'get-patient'>(`/patients/${id}`, undefined, more),
      create: (body: Body<'create-patient'>, more?: RequestOptions) =>
        post<'create-patient'>('/patients', body, more),
    },
    doctors: pages<'list-doctors'>('/doctors'),
    availability: {
      get: (query: Query<'get-availability'>, more?: RequestOptions) =>
        get<'get-availability'>('/availability', query, more),
    },
    appointments: {
      ...pages<'list-appointments'>('/appointments'),
      book: (body: Body<'create-appointment'>, more?: RequestOptions) =>
        post<'create-appointment'>('/appointments', body, more),
    },
    invoices: {
      ...pages<'list-invoices'>('/invoices'),
      get: (id: string, more?: RequestOptions) => get<'get-invoice'>(`/invoices/${id}`, undefined, more),
    },
    payments: pages<'list-payments'>('/payments'),
    messages: {
      ...pages<'list-messages'>('/messages'),
      send: (body: Body<'send-message'>, more?: RequestOptions) =>
        post<'send-message'>('/messages', body, more),
    },
    webhooks: {
      ...pages<'list-webhooks'>('/webhooks'),
      create: (body: Body<'create-webhook'>, more?: RequestOptions) =>
        post<'create-webhook'>('/webhooks', body, more),
      update: (id: string, body: Body<'update-webhook'>, more?: RequestOptions) =>
        send({ method: 'PATCH', path: `/webhooks/${id}`, body, ...more }) as Promise<
          Answer<'update-webhook'>
        >,
      delete: async (id: string, more?: RequestOptions): Promise<void> => {
        await send({ method: 'DELETE', path: `/webhooks/${id}`, ...more })
      },
      rotateSecret: (id: string, body: Body<'rotate-webhook-secret'> = {}, more?: RequestOptions) =>
        post<'rotate-webhook-secret'>(`/webhooks/${id}/rotate-secret`, body, more),
      ping: (id: string, more?: RequestOptions) => post<'ping-webhook'>(`/webhooks/${id}/ping`, {}, more),
      deliveries: (id: string) => log<'list-deliveries'>(`/webhooks/${id}/deliveries`),
      redeliver: (id: string, delivery: string, more?: RequestOptions) =>
        post<'redeliver'>(`/webhooks/${id}/deliveries/${delivery}/redeliver`, {}, more),
    },
    events: log<'list-events'>('/events'),
  }
}
