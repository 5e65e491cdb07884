/**
 * A client of the Clinic Developer API for servers: Node, Deno, Bun and workers. A credential gives access to a whole
 * clinic, so do not use the client in a browser. The types are generated from the API document (schema.ts).
 */
import { requestsOf } from './requests.ts'
import { methodsOf } from './resources.ts'
import { type ClientOptions, transport } from './transport.ts'

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
  methodsOf<Reads>(requestsOf(transport(options)))
