/**
 * The state that DynamoDB keeps of a ClientRequestToken. The proxy keeps it itself and sends the engine no tokens: engines
 * differ while a call is in flight. dynoxide and DynamoDB Local 1.25 let a second request wait for the first and return
 * success, where DynamoDB returns TransactionInProgressException.
 */
import { createHash } from 'node:crypto'
import { errorReply, isSuccess, type Reply } from './call.ts'

const REMEMBERED_MS = 600_000

type Entry = {
  readonly parameters: string
  /** Absent while the transaction is in flight. */
  committed?: { readonly reply: Reply; readonly at: number }
}

/** Either the request runs, and its reply is reported, or its reply is already known. */
export type TokenResult = { readonly finish: (reply: Reply) => void } | { readonly reply: Reply }

/** @param now in epoch milliseconds */
export function requestTokens(now: () => number) {
  const entries = new Map<string, Entry>()

  return {
    begin: (token: string, parameters: unknown): TokenResult => {
      const digest = createHash('sha256').update(canonical(parameters)).digest('hex')
      const known = entries.get(token)
      if (known && !isExpired(known, now())) {
        if (known.parameters !== digest) return { reply: MISMATCH }
        return { reply: known.committed ? repeated(known.committed.reply) : IN_PROGRESS }
      }
      const entry: Entry = { parameters: digest }
      // A token that is used again goes to the end, so that the oldest is always the first.
      entries.delete(token)
      entries.set(token, entry)
      removeExpired(entries, now())
      return {
        finish: (reply) => {
          // A transaction that did not commit leaves its token free: the same request may run again.
          if (!isSuccess(reply)) entries.delete(token)
          else entry.committed = { reply, at: now() }
        },
      }
    },
  }
}

const isExpired = ({ committed }: Entry, now: number): boolean =>
  committed !== undefined && now - committed.at >= REMEMBERED_MS

function removeExpired(entries: Map<string, Entry>, now: number): void {
  for (const [token, entry] of entries) {
    if (!isExpired(entry, now)) return
    entries.delete(token)
  }
}

const MISMATCH = errorReply(
  'IdempotentParameterMismatchException',
  'The request has the same client token as an earlier one, with other parameters.',
)

export const IN_PROGRESS = errorReply(
  'TransactionInProgressException',
  'The transaction with the given request token is already in progress.',
)

/** A repeated transaction reports the read capacity of looking at its items, not the write capacity. */
function repeated(reply: Reply): Reply {
  if (reply === 'disconnect') return reply
  const { ConsumedCapacity, ...body } = JSON.parse(reply.body)
  if (!ConsumedCapacity) return reply
  const capacities = ConsumedCapacity.map(({ TableName, CapacityUnits }: Record<string, unknown>) => ({
    TableName,
    CapacityUnits,
    ReadCapacityUnits: CapacityUnits,
  }))
  return { status: reply.status, body: JSON.stringify({ ...body, ConsumedCapacity: capacities }) }
}

/** JSON with the members of every object in one order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
