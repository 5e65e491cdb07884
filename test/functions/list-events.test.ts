/** GET /events on the real engine: pages of every size, with and without filters. */
import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Scope } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import {
  EVENTS,
  type Event,
  eventPayload,
  importEventDraft,
  PING,
  type RecordEventName,
} from '../../shared/domain/webhooks/event.ts'
import { eventStore } from '../../shared/store/events/events.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { eventKey, eventsFrom } from '../../shared/store/keys/events.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { type Table, withSource } from '../../shared/store/table/table.ts'
import { issueCredential } from '../support/credentials.ts'
import { dataOf, type EventLog, eventLog, type Query } from '../support/event-log.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { property, rounds } from '../support/scale.ts'
import { aPatient } from '../support/table.ts'

const DAY = 24 * 3_600_000

const db = tableOfFunctions()
afterEach(() => {
  vi.useRealTimers()
})

const logOf = (...facts: Partial<Event>[]) => eventLog(db.table, facts)
const COUNTS = { imported: 1, updated: 0 }
const some = (count: number, facts: Partial<Event> = {}) => Array.from({ length: count }, () => facts)
const ids = (events: readonly Event[]) => events.map(({ id }) => id)

describe('GET /events', () => {
  it.each(EVENTS)('returns %s, with and without a filter by name', async (event) => {
    const data =
      event === 'import.completed' && importEventDraft('patients', { imported: 1, updated: 0 }).data
    const facts = { event, ...(data && { data }) }
    const log = await logOf({ event: 'patient.updated' }, facts, { event: 'payment.created' })
    const { body } = await log.get({ event })
    const shown = eventPayload(log.events[1] as Event, log.clinic as Clinic)
    expect(body.data).toContainEqual(shown)
    expect(body.data.every((one: { event: string }) => one.event === event)).toBe(true)
    expect((await log.get()).body.data[1]).toEqual(shown)
  })

  it('lists events of earlier and later versions with the data that they have, without those that it does not know', async () => {
    const earlier = { ...dataOf('appointment.created'), treatment_ids: undefined, room_id: undefined }
    const facts = [
      { event: 'appointment.created', data: JSON.parse(JSON.stringify(earlier)) },
      { event: 'invoice.paid', data: { ...dataOf('invoice.paid'), parts: [{ amount: 1 }, null, true] } },
      { event: 'patient.merged' as RecordEventName, data: { id: newUuid() } },
    ] as const
    const log = await logOf(...facts)
    const { status, body } = await log.get({ limit: '2' })
    expect([status, body.data.map((event: Event) => event.data), body.meta.has_more]).toEqual([
      200,
      facts.slice(0, 2).map(({ data }) => data),
      false,
    ])
    await log.add({ event: 'patient.merged' as RecordEventName })
    await log.add({ event: 'patient.updated' })
    expect((await log.page({ limit: '1', after: body.meta.next_after })).ids).toEqual(
      ids(log.events.slice(-1)),
    )
  })

  it('lists the import of a file only with the scope that reads its records', async () => {
    const imports = ['patients', 'payments', 'doctors'].map((entity) => importEventDraft(entity, COUNTS))
    const log = await logOf(...imports)
    const seen = async (...scopes: Scope[]) => {
      const { headers } = await issueCredential(db.table, log.clinic as Clinic, ['webhook.read', ...scopes])
      const { body } = await request('list-events', { headers })
      return body.data.map(({ data }: { data: { entity: string } }) => data.entity)
    }
    expect(await seen()).toEqual([])
    expect(await seen('finance.read')).toEqual(['payments'])
    expect(await seen('patient.read', 'appointment.read.availability')).toEqual(['patients', 'doctors'])
  })

  it('says who caused an event, and in which request; neither is known of one that was stored before', async () => {
    const log = await logOf({})
    const { headers } = await issueCredential(db.table, log.clinic as Clinic)
    const created = await request('create-patient', {
      headers,
      body: { first_name: 'Ada', last_name: 'Kaya' },
    })
    await patientWriter({ table: withSource(db.table, 'import') }).createMany(log.clinic.id, [aPatient()])
    await patientWriter(db).createMany(log.clinic.id, [aPatient()])
    await eventFanOut({ table: db.table, now: Date.now, newId: newUuid }).fanOut(
      log.clinic.id,
      async () => {},
    )
    const { body } = await log.get()
    expect(body.data.map((one: Event & { request_id: string }) => [one.source, one.request_id])).toEqual([
      [null, null],
      ['api', created.headers['x-request-id']],
      ['import', null],
      ['system', null],
    ])
  })

  it('returns an announced event only after its fan-out', async () => {
    const log = await logOf()
    await patientWriter(db).createMany(log.clinic.id, [aPatient()])
    expect((await log.page()).ids).toEqual([])
    await eventFanOut({ table: db.table, now: Date.now, newId: newUuid }).fanOut(
      log.clinic.id,
      async () => {},
    )
    expect((await log.page()).ids.length).toBe(1)
  })
})

it('an event is returned until it is 30 days old', async () => {
  const log = await logOf({})
  vi.useFakeTimers({ now: Date.now() + 30 * DAY - 2000, toFake: ['Date'] })
  expect((await log.page()).ids.length).toBe(1)
  vi.useFakeTimers({ now: Date.now() + 4000, toFake: ['Date'] })
  expect((await log.page()).ids.length).toBe(0)
})

describe('a filter', () => {
  it.each([1, 499, 500, 501, 1000, 1999, 2000])(
    'returns an empty last page when only %i other events exist',
    async (others) => {
      const log = await logOf(...some(others))
      expect(await log.page({ event: 'invoice.paid' })).toEqual({
        ids: [],
        after: log.cursorAt(others),
        more: false,
      })
      await log.add({ event: 'invoice.paid' })
      expect((await log.readAll({ event: 'invoice.paid' })).flatMap((page) => page.ids)).toEqual(
        ids(log.events.slice(-1)),
      )
    },
  )

  it('reads thousands of other events over several pages, each with a later cursor', async () => {
    const wanted = { event: 'invoice.paid' } as const
    const log = await logOf(wanted, ...some(2600), wanted, wanted, ...some(2100), wanted, ...some(10))
    const expected = ids(log.events.filter(({ event }) => event === wanted.event))
    for (const limit of ['1', '2', '3', '100']) {
      const pages = await log.readAll({ ...wanted, limit })
      expect(pages.flatMap((page) => page.ids)).toEqual(expected)
      expect(pages.length).toBeLessThanOrEqual(8)
      // Each request makes few reads, and its cursor is later than the one before.
      const places = pages.map(({ after }) => log.positionOf(after))
      expect(places).toEqual([...new Set(places)].sort((a, b) => a - b))
    }
  })

  it.each<[string]>([[PING], ['patient'], ['patient.*'], ['Patient.Created'], [''], ['constructor']])(
    'returns 400 for the event name %j',
    async (event) => {
      const log = await logOf({})
      expect(await log.get({ event })).toMatchObject({
        status: 400,
        body: { error: 'INVALID_PARAMS', details: [{ field: 'event' }] },
      })
    },
  )
})

describe('a cursor', () => {
  it.each<[string, (log: EventLog, other: EventLog) => string]>([
    ['an empty one', () => ''],
    ['a position', () => '1'],
    ['an id of an event', () => `evt_${newUuid()}`],
    ['one without a position', (log) => log.cursorAt('')],
    ['one with a text for a position', (log) => log.cursorAt('1e3')],
    ['one of another clinic', (_, other) => other.cursorAt(1)],
    ['one beyond the last event', (log) => log.cursorAt(2)],
  ])('returns 400 for %s', async (_, cursorOf) => {
    const [log, other] = [await logOf({}), await logOf({})]
    const after = cursorOf(log, other)
    for (const query of [{ after }, { after, event: 'patient.created' }] as Query[])
      expect(await log.get(query)).toMatchObject({
        status: 400,
        body: {
          error: 'INVALID_PARAMS',
          message: 'errors.developer_api.invalid_cursor',
          details: [{ field: 'after', issue: 'must be the next_after of an earlier response' }],
        },
      })
  })

  it('returns 400 when it is sent twice', async () => {
    const log = await logOf({})
    const { headers } = await issueCredential(db.table, log.clinic)
    const sent = { query: { after: ['1', '2'] }, headers }
    expect(await request('list-events', sent)).toMatchObject({
      status: 400,
      body: { details: [{ field: 'after' }] },
    })
  })

  it.each([0, 2])('after %i events skips none that is written while its page is read', async (before) => {
    const log = await logOf(...some(before))
    let isFirst = true
    // It passes the place of the first new event before their transaction, and that of the second after it.
    const query: Table['query'] = async (range) => {
      const found = await db.table.query(range)
      if (!isFirst) return found
      isFirst = false
      await log.add({}, {}, {})
      return [...found, ...(await db.table.query({ ...range, from: eventsFrom(before + 2) }))]
    }
    const { page } = eventStore({ table: { ...db.table, query }, now: Date.now })
    const first = await page(log.clinic.id, { limit: 10 })
    expect(first).toMatchObject({ nextAfter: String(before), hasMore: true })
    const second = await page(log.clinic.id, { after: first?.nextAfter, limit: 10 })
    expect(ids([...(first?.items ?? []), ...(second?.items ?? [])])).toEqual(ids(log.events))
  })

  it('continues after its event has been deleted', async () => {
    const log = await logOf(...some(3))
    await db.table.transact([1, 2, 3].map((at) => db.table.deleteWrite(eventKey(log.clinic.id, at))))
    const after = log.cursorAt(3)
    expect(await log.page({ after })).toEqual({ ids: [], after, more: false })
    await log.add({})
    expect((await log.page({ after: log.cursorAt(2) })).ids).toEqual(ids(log.events.slice(-1)))
  })
})

describe('pages compared with a model', () => {
  const NAMES: readonly RecordEventName[] = [
    'patient.created',
    'appointment.created',
    'invoice.paid',
    'sms.sent',
  ]
  const logs: EventLog[] = []

  beforeAll(async () => {
    let seed = 7
    const random = () => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31
      return seed / 2 ** 31
    }
    for (const length of [0, 1, 2, 40, 130, ...Array(rounds(1, 5)).fill(650)]) {
      // Some names are rare, and some events are old.
      const facts = Array.from({ length }, () => ({
        event: NAMES[Math.floor(random() ** 3 * NAMES.length)] as RecordEventName,
        createdAt: new Date(Date.now() - (random() < 0.2 ? 40 : 1) * DAY).toISOString(),
      }))
      logs.push(await logOf(...facts))
    }
  })

  it('have exactly the next matching events, and a cursor that continues there', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.constantFrom(undefined, ...NAMES, 'email.failed' as const),
        fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constantFrom(1, 2, 20, 100)),
        fc.option(fc.nat(700), { nil: undefined }),
        async (which, event, limit, start) => {
          const log = logs[which % logs.length] as EventLog
          const after = start === undefined ? undefined : start % (log.events.length + 1)
          const page = await log.page({
            limit: String(limit),
            ...(event && { event }),
            ...(after !== undefined && { after: log.cursorAt(after) }),
          })
          // The matching events after the cursor, with their places.
          const wanted = log.events.flatMap((one, at) => {
            const isRecent = Date.parse(one.createdAt) > Date.now() - 30 * DAY
            const matches = isRecent && at + 1 > (after ?? 0) && (event ?? one.event) === one.event
            return matches ? [{ id: one.id, place: at + 1 }] : []
          })
          expect(page.ids).toEqual(wanted.slice(0, limit).map(({ id }) => id))
          expect(page.more).toBe(wanted.length > limit)
          // The cursor lies after the last returned event and before the next one.
          const place = log.positionOf(page.after)
          if (page.more) {
            expect(place).toBeGreaterThanOrEqual(wanted[limit - 1]?.place as number)
            expect(place).toBeLessThan(wanted[limit]?.place as number)
          } else expect(place).toBe(log.events.length)
        },
      ),
      property(100, 5000),
    )
  })
})
