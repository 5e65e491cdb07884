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
import type { ApiRequest, SendRequest } from './transport.ts'

/** What makes the methods of the client. */
export type Requests<Reads extends boolean> = ReturnType<typeof requestsOf<Reads>>

/** The kinds of requests that the operations consist of. */
export function requestsOf<Reads extends boolean>(send: SendRequest) {
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
