import type * as z from 'zod'
import type { Caller } from '../api/account.ts'
import { errorEntry } from '../api/error-catalogue.ts'
import { ApiError } from '../api/errors.ts'
import type { Route } from '../api/route.ts'
import type { ClinicId, ClinicInfo } from '../domain/clinic.ts'
import { rejectedKeys } from '../http/authenticate.ts'
import { endpointChain } from '../http/chain.ts'
import { mayReadRecord } from '../http/record-reference.ts'
import { accessToStdout } from '../observability/access.ts'
import { coldStart } from '../observability/cold-start.ts'
import { logToStdout } from '../observability/log.ts'
import { type BeginWrite, requestedWrite } from '../requests/requested-write.ts'
import { credentialUse } from '../store/credential-use.ts'
import { credentialStore } from '../store/credentials.ts'
import { ExternalIdTaken, isThrottling, UnavailableError } from '../store/table/errors.ts'
import {
  IdempotencyKeyReused,
  idempotencyGuard,
  RequestCompleted,
  RequestInProgress,
} from '../store/table/idempotency.ts'
import { withScope } from '../store/table/request-scope.ts'
import { openTable } from '../store/table/table.ts'
import { documentClient } from './document-client.ts'
import { isStartedOnDemand, readEnvironment } from './environment.ts'
import { type Opened, openPlatform, openStores, type Stores } from './platform.ts'

/** A request that has passed every check of the chain. */
export type Input<R extends Route> = {
  readonly clinicId: ClinicId
  readonly clinic: ClinicInfo
  readonly credential: Caller
  /** Whether the credential may read the record that the request changes. */
  readonly mayReadRecord: boolean
  readonly path: { readonly [name in keyof R['params']]: string }
  readonly query: R['query'] extends z.ZodObject ? z.output<R['query']> : Record<string, never>
  readonly body: R['body'] extends z.ZodObject ? z.output<R['body']> : Record<string, never>
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The id of the request: log lines of its later effects name it. */
  readonly requestId: string
  readonly newId: () => string
  /** Begins the write of the request, for a store: with its idempotency key, `if-match`, and the response to store. */
  readonly write: BeginWrite
  /** Records in the access trail that the request changed something, although its record stays as it was. */
  readonly reportChange: () => void
}

type ResponseBody<R extends Route> = z.input<R['response']['body']>

/** What an endpoint returns: its response; null for the error that the contract names for an unknown id, of the last one in the path. */
type Result<R extends Route> = R extends { readonly params: object }
  ? ResponseBody<R> | null
  : ResponseBody<R>

/**
 * A Lambda handler for one route: the chain, then `handle` with its stores. Stores are opened once per process, from the
 * environment that the stack sets for the function. While the function starts, and has a whole core, its `prepare` uses the
 * schemas of requests and reads the table: the first request then finds a connection, and this code compiled. It never rejects.
 */
export function endpoint<R extends Route, S extends Stores>(
  route: R,
  stores: S,
  handle: (input: Input<R>, stores: Opened<S>) => Promise<Result<R>>,
) {
  const environment = readEnvironment()
  const table = openTable(documentClient(), environment.TABLE_NAME, { source: 'api' })
  const platform = openPlatform(table, environment.STAGE)
  const credentials = credentialStore(platform)
  const uses = credentialUse(platform)
  const opened = openStores(stores, platform)
  const reportColdStart = coldStart(platform.recordMs, isStartedOnDemand())
  const chain = endpointChain(route, {
    now: platform.now,
    log: logToStdout,
    onInvoked: reportColdStart,
    writeAccess: accessToStdout,
    verifyCredential: credentials.authenticate,
    onRejectedKey: rejectedKeys(() => platform.count('key_refused_repeatedly'), platform.now),
    countRequest: (credential) =>
      uses.countRequest(credential).catch((error: Error) => {
        if (isThrottling(error.cause)) return 'throttled'
        throw error
      }),
    requestsPerMinute: environment.REQUESTS_PER_MINUTE,
    recordUse: uses.recordUse,
    onUnlimited: (error) => platform.count('requests_not_limited', {}, error),
    checkResponses: environment.CHECK_RESPONSES === 'on',
    toApiError,
  }).handler(async (_event, context, { signal }) => {
    const { call } = context
    const credential = call.credential as NonNullable<typeof call.credential>
    const { clinic, key, requestsPerMinute } = credential
    const { path, query, body } = call
    const caller: Caller = {
      ...credential,
      requestsPerMinute: requestsPerMinute ?? environment.REQUESTS_PER_MINUTE,
    }
    let requireStillNew = async () => {}
    const write: BeginWrite = (response) => {
      const request = {
        clinic: clinic.id,
        credential: key,
        route: route.id,
        key: call.idempotencyKey,
        // The ids of the path are part of the request, like its body.
        body: [...Object.values(path), call.bodyText].join('\n'),
      }
      const guard = idempotencyGuard(platform, request)
      const begun = requestedWrite(call, route.response, guard, response)
      requireStillNew = begun.requireStillNew
      return begun
    }
    const input = {
      clinicId: clinic.id,
      clinic,
      credential: caller,
      mayReadRecord: mayReadRecord(route, call),
      path,
      query,
      body,
      now: platform.now(),
      requestId: call.requestId,
      newId: platform.newId,
      write,
      reportChange: () => {
        call.isUnchanged = false
      },
    }
    // A request that has its response makes no further call of the table. The last attempt has half of the time.
    const ended = new AbortController()
    const work = async () => {
      try {
        const result = await handle(input as Input<R>, opened)
        if (result !== null) return result
        throw new ApiError(Object.values(route.params ?? {}).at(-1) ?? 'internal')
      } catch (error) {
        if (isRejection(error)) await requireStillNew()
        throw error
      }
    }
    const deadline = performance.now() + context.getRemainingTimeInMillis() / 2
    try {
      const onOptionalFailure = (error: unknown) => platform.count('copies_left_stale', {}, error)
      const scope = { deadline, requestId: call.requestId, onOptionalFailure }
      return await withScope({ ...scope, signal: AbortSignal.any([signal, ended.signal]) }, work)
    } catch (error) {
      // Reads beside the one that has found the response.
      ended.abort()
      if (error instanceof RequestCompleted) return error.response
      throw error
    }
  })
  const prepare = async (): Promise<void> => {
    for (const schema of [route.query, route.body]) schema?.safeParse({})
    const signal = AbortSignal.timeout(PREPARE_MS)
    await withScope({ signal }, () => credentials.authenticate(NO_CREDENTIAL)).catch(() => null)
  }
  return Object.assign(chain, { prepare })
}

/** The longest that a start waits for the table. */
const PREPARE_MS = 1000
const NO_CREDENTIAL = { key: 'none', secret: '' }

/** Whether a request is rejected for what it is, or for the state of the records that it concerns. */
function isRejection(thrown: unknown): boolean {
  const error = toApiError(thrown)
  return error instanceof ApiError && errorEntry(error.key).status < 500
}

/** An error of the stores as one of the catalogue; any other error unchanged. */
function toApiError(error: unknown): unknown {
  if (error instanceof UnavailableError)
    return new ApiError('unavailable', { headers: { 'retry-after': '1' }, cause: error.cause })
  if (error instanceof ExternalIdTaken)
    return new ApiError('external_id_taken', { details: [{ field: 'external_id', id: error.record }] })
  if (error instanceof IdempotencyKeyReused) return new ApiError('idempotency_key_reused')
  if (error instanceof RequestInProgress)
    return new ApiError('idempotency_in_progress', { headers: { 'retry-after': '1' } })
  return error
}
