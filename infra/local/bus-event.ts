import { randomUUID } from 'node:crypto'
import { ACCOUNT_ID } from './physical-names.ts'

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

type Told = Pick<BusEvent, 'source' | 'detail-type' | 'detail'> & Partial<BusEvent>

export const newEvent = (region: string, told: Told): BusEvent => ({
  version: '0',
  id: randomUUID(),
  account: ACCOUNT_ID,
  time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
  region,
  resources: [],
  ...told,
})

export class NoEvent extends Error {}

/**
 * An event that a person wrote: source, detail-type and detail, and what else should differ from a new one's.
 * @throws NoEvent saying why it is none
 */
export function readEvent(text: string, region: string): BusEvent {
  const told = parse(text)
  const blank = newEvent(region, { source: '', 'detail-type': '', detail: {} })
  for (const [field, value] of Object.entries(told)) {
    if (!Object.hasOwn(blank, field)) throw new NoEvent(`An event has no field "${field}".`)
    const kind = kindOf(blank[field as keyof BusEvent])
    if (kindOf(value) !== kind) throw new NoEvent(`The field "${field}" of an event is ${kind}.`)
  }
  for (const field of ['source', 'detail-type', 'detail'])
    if (!Object.hasOwn(told, field)) throw new NoEvent(`An event needs the field "${field}".`)
  return { ...blank, ...told }
}

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (kindOf(value) === 'an object') return value as object
  } catch {
    // Told below, like any other text that is no object.
  }
  throw new NoEvent('An event is a JSON object.')
}

const kindOf = (value: unknown): string =>
  Array.isArray(value)
    ? 'a list'
    : typeof value === 'object' && value !== null
      ? 'an object'
      : `a ${typeof value}`
