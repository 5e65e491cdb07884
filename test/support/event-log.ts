import { expect } from 'vitest'
import { newUuid } from '../../shared/domain/uuid.ts'
import { type Event, IMPORT_COMPLETED } from '../../shared/domain/webhooks/event.ts'
import { listCursors } from '../../shared/requests/record-list.ts'
import { encodeEvent } from '../../shared/store/events/items.ts'
import { eventHeadKey } from '../../shared/store/keys/events.ts'
import { chunked } from '../../shared/store/table/chunked.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { issueCredential } from './credentials.ts'
import { request } from './functions.ts'
import { newClinic } from './table.ts'

export type Query = Record<string, string>

/** A clinic with an event log, and requests to it. */
export async function eventLog(table: Table, facts: readonly Partial<Event>[]) {
  const clinic = await newClinic(table)
  const { headers } = await issueCredential(table, clinic)
  const events: Event[] = []
  /** Adds events at the end of the log. */
  const add = async (...more: Partial<Event>[]) => {
    const placed = more.map((one): Event => {
      const id = newUuid()
      const event = one.event ?? 'patient.created'
      return {
        id,
        event,
        record: id,
        sequence: 1,
        data: dataOf(event),
        createdAt: new Date().toISOString(),
        ...one,
      }
    })
    const items = placed.map((event, at) =>
      encodeEvent(clinic.id, events.length + at + 1, event, Date.parse(event.createdAt)),
    )
    for (const chunk of chunked(items, 100)) await table.transact(chunk.map((item) => table.putWrite(item)))
    events.push(...placed)
    await table.transact([table.putWrite({ ...eventHeadKey(clinic.id), n: events.length, v: 1 })])
  }
  await add(...facts)
  const get = async (query: Query = {}) => request('list-events', { query, headers })
  /** One page: its events and its cursor. */
  const page = async (query: Query = {}) => {
    const { status, body } = await get(query)
    expect([status, body.meta.limit]).toEqual([200, Number(query.limit ?? 20)])
    return {
      ids: body.data.map(({ id }: { id: string }) => id.replace('evt_', '')) as string[],
      after: body.meta.next_after as string,
      more: body.meta.has_more as boolean,
    }
  }
  /** All pages from a cursor on, as a caller reads them. */
  const readAll = async (query: Query = {}) => {
    const pages = [await page(query)]
    for (let last = pages[0]; last?.more; last = pages.at(-1))
      pages.push(await page({ ...query, after: last.after }))
    return pages
  }
  const cursors = listCursors({ list: 'events', clinic: clinic.id, filters: {} })
  /** The number of events before a cursor. */
  const positionOf = (cursor: string) => Number(cursors.decode(cursor))
  /** The cursor after the event at a position. */
  const cursorAt = (position: number | string) => cursors.encode(String(position))
  return { clinic, events, add, get, page, readAll, positionOf, cursorAt }
}

export type EventLog = Awaited<ReturnType<typeof eventLog>>

const DATE = { id: newUuid(), patient_id: newUuid() }
const DATA: Record<string, object> = {
  patient: {},
  appointment: {
    patient_id: DATE.patient_id,
    doctor_id: DATE.id,
    treatment_ids: [DATE.id],
    room_id: null,
    status: 'scheduled',
    appointment_date: '2026-05-04',
    start_time: '09:00',
    end_time: '09:30',
  },
  invoice: {
    patient_id: DATE.patient_id,
    appointment_id: null,
    doctor_id: DATE.id,
    status: 'sent',
    issue_date: '2026-05-04',
    due_date: null,
  },
  payment: {
    invoice_id: DATE.id,
    patient_id: DATE.patient_id,
    status: 'completed',
    payment_date: '2026-05-04',
  },
  sms: { patient_id: DATE.patient_id },
  email: { patient_id: DATE.patient_id },
  doctor: { is_active: true },
  treatment: { is_active: true },
}
/** Statuses that are part of an event's name. */
const NAMED = /\.(cancelled|completed|no_show|paid|sent|delivered|failed)$/

/** The data of an event with that name. */
export function dataOf(event: Event['event']): Event['data'] {
  if (event === IMPORT_COMPLETED) return { entity: 'patients', imported: 1, updated: 0 }
  if (event === 'clinic.updated') return { changed: 'holidays' }
  const status = NAMED.exec(event)?.[1]
  return { id: newUuid(), ...DATA[event.split('.')[0] as string], ...(status && { status }) }
}
