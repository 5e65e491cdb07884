import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'

/** The header names the second that began before the response was sent. */
const RESOLUTION_MS = 1000

/**
 * The time by the clock of the store, as the `date` header of its responses says it, in milliseconds since the epoch: changes
 * get their times from it, and readers of changes rely on times that agree within a second. This machine's clock may be wrong. Add
 * it before the first call of the client; until its response, the time is this machine's.
 */
export function storeClock(
  client: DynamoDBDocumentClient,
  machineNow: () => number = Date.now,
): () => number {
  /** The bounds of the difference to this machine's clock. */
  let difference = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY }
  const learn = (sentAt: number, date: number): void => {
    const seen = { min: date - machineNow(), max: date + RESOLUTION_MS - sentAt }
    const both = { min: Math.max(difference.min, seen.min), max: Math.min(difference.max, seen.max) }
    // If the bounds contradict each other, one of the clocks was set since the last call.
    difference = both.min <= both.max ? both : seen
  }
  client.middlewareStack.add(
    (next) => async (args) => {
      const sentAt = machineNow()
      const output = await next(args)
      const date = dateOf(output.response)
      if (date !== null) learn(sentAt, date)
      return output
    },
    // Inside of the middleware that retries, and of the one that turns responses into errors.
    { step: 'deserialize', priority: 'low', name: 'storeClock' },
  )
  // No correction while this machine's clock may be right.
  return () => machineNow() + Math.min(Math.max(0, difference.min), difference.max)
}

function dateOf(response: unknown): number | null {
  const { headers } = response as { readonly headers?: Readonly<Record<string, string>> }
  const date = Date.parse(headers?.date ?? '')
  return Number.isNaN(date) ? null : date
}
