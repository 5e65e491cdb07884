/**
 * The state that DynamoDB keeps of a ClientRequestToken. The proxy keeps it itself and sends the engine no tokens: engines
 * differ while a call is in flight. dynoxide and DynamoDB Local 1.25 let a second request wait for the first and return
 * success, where DynamoDB returns TransactionInProgressException.
 */
import { errorReply, isSuccess, type Reply } from './call.ts'

/** Either the request runs, and its reply is reported, or its reply is already known. */
type TokenResult = { readonly finish: (reply: Reply) => void } | { readonly reply: Reply }

/** More than are repeated at a time. */
const REMEMBERED = 10_000

export function requestTokens() {
  /** The reply of a transaction that committed; null while it is in flight. */
  const replies = new Map<string, Reply | null>()

  return {
    begin: (token: string): TokenResult => {
      const known = replies.get(token)
      if (known !== undefined) return { reply: known ?? IN_PROGRESS }
      replies.set(token, null)
      const [oldest] = replies.keys()
      if (replies.size > REMEMBERED && oldest !== undefined) replies.delete(oldest)
      return {
        finish: (reply) => {
          // A transaction that did not commit leaves its token free: the same request may run again.
          if (isSuccess(reply)) replies.set(token, reply)
          else replies.delete(token)
        },
      }
    },
  }
}

export const IN_PROGRESS = errorReply(
  'TransactionInProgressException',
  'The transaction with the given request token is already in progress.',
)
