import { v5 } from 'uuid'
import { EVENT_PAYLOADS } from '../../shared/api/events.ts'
import type { Examples, RecordedDelivery } from '../../shared/api/openapi/examples.ts'
import { signatureHeaders } from '../../shared/delivery/webhook-signature.ts'
import type { EventName } from '../../shared/domain/event.ts'
import { EXAMPLE_SECRET } from './example-recorder.ts'
import { RECORDING_START } from './recording-clock.ts'

/** Namespace of the ids in examples. */
const EXAMPLE_IDS = '5c1f6a0e-3b0d-4d0c-9a53-2f7e8b1d6c40'

/** UUIDs except those of versions 5 and 8, which follow from the demo clinics' own records; and ids of the local email engine. */
const RANDOM_ID = /[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\bses-\d+/g
const TIMESTAMP = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)/g

/** The digest of a response, which may contain what differs between recordings. */
const ETAG = /^"[\w-]{43}"$/
const EXAMPLE_ETAG = '"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"'

/** A cursor of a list of records, which contains the position of a record. */
const CURSOR = /^[\w-]{20,}$/
const EXAMPLE_CURSOR = 'ozFq5xL86OKyMDAwMDAwMDQ5MA'

/** The gateway's id of a request. */
const REQUEST_ID = /^[\w-]{15}=$/
const EXAMPLE_REQUEST_ID = 'JKJaXmPLvHcESHA='

const START = Date.parse(RECORDING_START)
const MAX_RECORDING_MS = 60 * 60_000
const LATENCY_MS = 85

/**
 * The examples without anything that differs between two recordings of one API: random ids, times after the start of the
 * recording, latencies, rate-limit windows, etags, cursors, ids of requests and the signatures over them.
 *
 * A random id is replaced by one that follows from where it is first shown, everywhere at once. An example that shows only its
 * own records and records shown before it therefore changes no other example.
 * @param demoClinic the id of the clinic that is recorded: the same in every recording, and kept
 */
export function stableExamples(examples: Examples, demoClinic: string): Examples {
  const idOf = new Map([...stableIds(examples), [demoClinic, demoClinic]])
  const stable = mapStrings(examples, '', (text, at) =>
    (at.endsWith('/next_after') ? text.replace(CURSOR, EXAMPLE_CURSOR) : text)
      .replace(RANDOM_ID, (id) => idOf.get(id) ?? id)
      .replace(TIMESTAMP, startOfRecording)
      .replace(/;t=\d+$/, ';t=60')
      .replace(ETAG, EXAMPLE_ETAG)
      .replace(REQUEST_ID, EXAMPLE_REQUEST_ID),
  ) as Examples
  return {
    ...stable,
    events: Object.fromEntries(
      Object.entries(stable.events).map(([name, { body }]) => [name, deliveryOf(name, body)]),
    ),
  }
}

/** For each random id, the id that replaces it. */
function stableIds(examples: Examples): ReadonlyMap<string, string> {
  const ids = new Map<string, string>()
  mapStrings(examples, '', (text, at) => {
    for (const [index, [id]] of [...text.matchAll(RANDOM_ID)].entries())
      if (!ids.has(id)) ids.set(id, stableId(id, v5(`${at}#${index}`, EXAMPLE_IDS)))
    return text
  })
  return ids
}

/** Ids of emails look as SES makes them. */
const stableId = (id: string, uuid: string): string =>
  id.startsWith('ses-') ? `0102019df2a4b3c5-${uuid}-000000` : uuid

/** Times during the recording become its start, in their own zone. Other times are the demo clinics' and stay. */
function startOfRecording(timestamp: string): string {
  const elapsed = Date.parse(timestamp) - START
  return elapsed >= 0 && elapsed < MAX_RECORDING_MS
    ? timestamp.replace(/T(\d\d):\d\d:\d\d/, 'T$1:00:00')
    : timestamp
}

/** A copy of JSON with its strings mapped, in document order; `at` names the place of a string. */
function mapStrings(value: unknown, at: string, map: (text: string, at: string) => string): unknown {
  if (typeof value === 'string') return map(value, at)
  if (Array.isArray(value)) return value.map((item, index) => mapStrings(item, `${at}/${index}`, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === 'latency_ms' ? LATENCY_MS : mapStrings(inner, `${at}/${key}`, map),
    ]),
  )
}

/** A delivery of `body`, signed at the start of the recording. The order of its fields is the schema's: the table keeps none. */
function deliveryOf(name: string, body: unknown): RecordedDelivery {
  const event = EVENT_PAYLOADS[name as EventName].parse(body)
  const headers = signatureHeaders({
    id: event.id as string,
    timestampSeconds: START / 1000,
    body: JSON.stringify(event),
    secrets: [EXAMPLE_SECRET],
  })
  return { headers, body: event }
}
