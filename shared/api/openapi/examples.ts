import type { EventName } from '../../domain/event.ts'
import type { ErrorKey } from '../error-catalogue.ts'

/** A recorded request and its response. */
export type RecordedExchange = {
  /** Relative to the base path, including the query string. */
  readonly path: string
  readonly request?: unknown
  readonly answer?: unknown
}

/** Responses recorded from a running API (bin/openapi/record.ts), used as the document's examples. */
export type Examples = {
  /** Successful exchanges by route id and name. Most routes have one, named `default`. */
  readonly successes: Readonly<Record<string, Readonly<Record<string, RecordedExchange>>>>
  /** Error bodies by route id, for errors whose details differ between routes. */
  readonly refusals: Readonly<Record<string, Readonly<Partial<Record<ErrorKey, unknown>>>>>
  /** Error bodies that are the same for every route. */
  readonly errors: Readonly<Partial<Record<ErrorKey, unknown>>>
  /** An example value of each header. */
  readonly headers: Readonly<Record<string, string>>
  /** A received delivery of each event. */
  readonly events: Readonly<Partial<Record<EventName, RecordedDelivery>>>
}

export type RecordedDelivery = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}
