import type { APIGatewayProxyEvent } from 'aws-lambda'
import { unauthorized } from '../api/errors.ts'
import { type Credential, type CredentialPair, parseAuthorization } from '../domain/credential.ts'
import type { ApiCall } from './call.ts'
import { headerValues } from './headers.ts'
import { remember } from './remember.ts'

/** So many rejections of one key within this time are reported. */
export const REPEATED_REJECTIONS = 10
const WINDOW_MS = 5 * 60_000

/** Anything else that is sent as a key may be a password or a name, and is not logged. */
const ISSUED_KEY = /^ck_[\w-]{1,64}$/

export type Authentication = {
  readonly verifyCredential: (pair: CredentialPair) => Promise<Credential | null>
  /** Called for every request that has an issued key which is not valid. */
  readonly onRejectedKey: (key: string) => void
}

/** The credential of a request. Any problem with it returns the same 401. */
export async function authenticate(
  event: APIGatewayProxyEvent,
  call: Pick<ApiCall, 'rejectedKey'>,
  { verifyCredential, onRejectedKey }: Authentication,
): Promise<Credential> {
  const [value, ...more] = headerValues(event, 'authorization')
  const pair = value === undefined || more.length > 0 ? null : parseAuthorization(value)
  const credential = pair && (await verifyCredential(pair))
  if (credential) return credential
  if (pair && ISSUED_KEY.test(pair.key)) {
    call.rejectedKey = pair.key
    onRejectedKey(pair.key)
  }
  throw unauthorized()
}

/**
 * Counts rejected requests by key, in the memory of one process, and calls `report` at every tenth of a key within five
 * minutes. Storing the counts would let anyone write to the table.
 */
export function rejectedKeys(report: () => void, now: () => number): (key: string) => void {
  const rejections = new Map<string, { since: number; count: number }>()
  return (key) => {
    const known = rejections.get(key)
    const current = known && now() - known.since < WINDOW_MS ? known : { since: now(), count: 0 }
    current.count++
    remember(rejections, key, current)
    if (current.count % REPEATED_REJECTIONS === 0) report()
  }
}
