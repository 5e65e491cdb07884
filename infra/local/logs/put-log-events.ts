import type { LogDelivery } from './log-delivery.ts'

/** A request of CloudWatch Logs' PutLogEvents that is not valid. */
export class InvalidLogEvents extends Error {}

type PutLogEvents = {
  readonly logGroupName?: unknown
  readonly logEvents?: readonly { readonly message?: unknown }[]
}

/** Writes the events of a PutLogEvents request to its log group. @throws InvalidLogEvents */
export function putLogEvents(body: string, { write }: Pick<LogDelivery, 'write'>): void {
  const { logGroupName, logEvents } = parse(body)
  if (typeof logGroupName !== 'string' || !Array.isArray(logEvents))
    throw new InvalidLogEvents('PutLogEvents needs logGroupName and logEvents.')
  for (const { message } of logEvents) write(logGroupName, String(message))
}

function parse(body: string): PutLogEvents {
  try {
    return (JSON.parse(body) ?? {}) as PutLogEvents
  } catch {
    throw new InvalidLogEvents('PutLogEvents needs a JSON object.')
  }
}
