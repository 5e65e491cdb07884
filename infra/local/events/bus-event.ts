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
