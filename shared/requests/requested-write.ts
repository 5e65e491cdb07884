import type { Caller } from '../api/account.ts'
import { errorEntry } from '../api/error-catalogue.ts'
import { ApiError, errorBody } from '../api/errors.ts'
import type { Route } from '../api/route.ts'
import type { ClinicId, ClinicInfo } from '../domain/clinic.ts'
import type { Credential } from '../domain/credential.ts'
import { confirmsExternalIds } from '../domain/scope.ts'
import type { StoredResponse } from '../domain/stored-response.ts'
import { type IdempotencyGuard, RequestCompleted, type RequestedWrite } from '../store/table/idempotency.ts'

/** What a response is made with: its body, or an error that is stored in its place. */
type Response<Outcome> = (outcome: Outcome) => object | ApiError

export type BeginWrite = <Outcome>(response: Response<Outcome>) => RequestedWrite<Outcome>

/** A request that writes a record, as its endpoint gets it. */
export type WriteRequest = {
  readonly clinicId: ClinicId
  readonly clinic: ClinicInfo
  readonly credential: Caller
  readonly mayReadRecord: boolean
  readonly path: { readonly id: string }
  readonly now: number
  readonly write: BeginWrite
}

type BegunWrite<Outcome> = RequestedWrite<Outcome> & {
  /** Called before the request is rejected: a concurrent copy of it may have made the state that it is rejected for. */
  readonly requireStillNew: () => Promise<void>
}

/** The part of a request that its write reads, and reports to. */
type Call = {
  readonly checkIfMatch: (current: () => unknown) => void
  isUnchanged?: boolean
  createdId?: string | undefined
  readonly credential?: Pick<Credential, 'scopes'>
}

/**
 * What a store does for a request besides its write: it sends the stored response to a repetition (Idempotency-Key), compares
 * `if-match`, and stores the response.
 */
export function requestedWrite<Outcome>(
  call: Call,
  { status, unchangedStatus = status }: Pick<Route['response'], 'status' | 'unchangedStatus'>,
  { find, store, reserve, complete }: IdempotencyGuard,
  response: Response<Outcome>,
): BegunWrite<Outcome> {
  let revised = async (stored: StoredResponse) => stored
  const requireNone = async (stored: StoredResponse | null) => {
    if (stored) throw new RequestCompleted(await revised(stored))
  }
  const toStore = (outcome: Outcome): [status: number, body: object] => {
    const reply = response(outcome)
    if (!(reply instanceof ApiError)) return [call.isUnchanged ? unchangedStatus : status, reply]
    return [errorEntry(reply.key).status, errorBody(reply.key, reply.details)]
  }
  return {
    confirmsExternalIds: confirmsExternalIds(call.credential?.scopes ?? []),
    requireNew: async (revise = revised) => {
      revised = revise
      await requireNone(await find())
    },
    requireStillNew: async () => requireNone(await find('committed')),
    requireMatch: (before) => call.checkIfMatch(() => response(before)),
    store: (changes, outcome, patient, createdId) => {
      call.isUnchanged = changes.size === 0
      call.createdId = createdId
      store(changes, ...toStore(outcome), patient, createdId)
    },
    reserve: (changes, outcome, patient, busyUntil) =>
      reserve(changes, ...toStore(outcome), patient, busyUntil),
    complete: (changes, outcome) => complete(changes, status, outcome && response(outcome)),
  }
}
