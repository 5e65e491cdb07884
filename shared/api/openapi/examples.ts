import type { EventName } from '../../domain/event.ts'
import type { ErrorKey } from '../errors.ts'

/** A request, with its body where it had one, and the body of its answer. */
export type RecordedExchange = {
  /** Below the base path, query and all. */
  readonly path: string
  readonly request?: unknown
  readonly answer?: unknown
}

/** What the running API answered, for the document to show (bin/openapi/record.ts). */
export type Examples = {
  /** Successes by route id; most routes have one, named `default`. */
  readonly successes: Readonly<Record<string, Readonly<Record<string, RecordedExchange>>>>
  /** Errors by route id, where the route says something of its own in them. */
  readonly refusals: Readonly<Record<string, Readonly<Partial<Record<ErrorKey, unknown>>>>>
  /** Errors as any route says them. */
  readonly errors: Readonly<Partial<Record<ErrorKey, unknown>>>
  /** A value of each header. */
  readonly headers: Readonly<Record<string, string>>
  /** Deliveries as they arrived. */
  readonly events: Readonly<Partial<Record<EventName, RecordedDelivery>>>
}

export type RecordedDelivery = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}
