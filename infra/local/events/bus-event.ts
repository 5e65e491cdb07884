import { randomUUID } from 'node:crypto'
import { ACCOUNT_ID } from '../template/physical-names.ts'

/** An event as EventBridge delivers it. */
export type BusEvent = {
  readonly version: string
  readonly id: string
  readonly 'detail-type': string
  readonly source: string
  readonly account: string
  /** ISO 8601, to the second. */
  readonly time: string
  readonly region: string
  readonly resources: readonly string[]
  readonly detail: Readonly<Record<string, unknown>>
}

type EventFields = Pick<BusEvent, 'source' | 'detail-type' | 'detail'> & Partial<BusEvent>

export const newEvent = (region: string, fields: EventFields): BusEvent => ({
  version: '0',
  id: randomUUID(),
  account: ACCOUNT_ID,
  time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
  region,
  resources: [],
  ...fields,
})

export class InvalidEvent extends Error {}

/**
 * Parses an event that a person wrote: source, detail-type and detail, and any fields that override the defaults.
 * @throws InvalidEvent with the reason
 */
export function readEvent(text: string, region: string): BusEvent {
  const fields = parseObject(text)
  const defaults = newEvent(region, { source: '', 'detail-type': '', detail: {} })
  for (const [field, value] of Object.entries(fields)) {
    if (!Object.hasOwn(defaults, field)) throw new InvalidEvent(`An event has no field "${field}".`)
    const kind = kindOf(defaults[field as keyof BusEvent])
    if (kindOf(value) !== kind) throw new InvalidEvent(`The field "${field}" of an event must be ${kind}.`)
  }
  for (const field of ['source', 'detail-type', 'detail'])
    if (!Object.hasOwn(fields, field)) throw new InvalidEvent(`An event needs the field "${field}".`)
  return { ...defaults, ...fields }
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (kindOf(value) === 'an object') return value as object
  } catch {
    // Reported below, like any other text that is not an object.
  }
  throw new InvalidEvent('An event must be a JSON object.')
}

const kindOf = (value: unknown): string =>
  Array.isArray(value)
    ? 'a list'
    : typeof value === 'object' && value !== null
      ? 'an object'
      : `a ${typeof value}`
