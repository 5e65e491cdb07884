/** Events and deliveries of a kind need the scope that reads the records of that kind. */
import { describe, expect, it } from 'vitest'
import { SCOPES, type Scope } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { EVENTS, type EventName, IMPORT_COMPLETED, scopeOfEvent } from '../../shared/domain/webhooks/event.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { issueCredential } from '../support/credentials.ts'
import { createWebhook } from '../support/deliveries.ts'
import { eventLog } from '../support/event-log.ts'
import { request } from '../support/functions.ts'
import { createPopulatedClinic } from '../support/records.ts'
import {
  db,
  deliveries,
  error,
  expectUnchanged,
  ping,
  redeliver,
  sendWith,
  useWebhookEndpoints,
} from '../support/webhook-requests.ts'

useWebhookEndpoints()

// An import is shown by what was imported: those of the log are of patients.
const scopeOf = (event: string): Scope =>
  event === IMPORT_COMPLETED ? 'patient.read' : (scopeOfEvent(event as EventName) as Scope)
const READ_SCOPES = [...new Set(EVENTS.map(scopeOf))]

const missing = (...scopes: Scope[]) => ({
  status: 403,
  body: { ...error(403, 'FORBIDDEN', 'missing_scope').body, details: scopes.map((scope) => ({ scope })) },
})
/** A log with two events of every type, and requests of a credential with these scopes, or `as` with others. */
async function logFor(...scopes: Scope[]) {
  const log = await eventLog(
    db.table,
    [...EVENTS, ...EVENTS].map((event) => ({ event })),
  )
  const as = async (...others: Scope[]) => {
    const { headers } = await issueCredential(db.table, log.clinic, ['webhook.read', ...others])
    return async (query: Record<string, string> = {}) => request('list-events', { query, headers })
  }
  return { log, as, get: await as(...scopes) }
}

describe('GET /events', () => {
  it('returns nothing to a credential with webhook.read alone, up to the end of the log', async () => {
    const { log, get } = await logFor()
    const { status, body, text } = await get({ limit: '100' })
    expect([status, body]).toEqual([
      200,
      { data: [], meta: { limit: 100, next_after: log.cursorAt(log.events.length), has_more: false } },
    ])
    expect(text).not.toMatch(/patient_id|start_time/)
  })

  it.each(READ_SCOPES)(
    'returns with %s only the events whose records it reads, in pages of any size',
    async (scope) => {
      const { log, get } = await logFor(scope)
      const expected = log.events.flatMap(({ id, event }) => (scopeOf(event) === scope ? [`evt_${id}`] : []))
      expect(expected.length).toBeGreaterThanOrEqual(4)
      for (const limit of [1, 3, 100]) {
        const seen: string[] = []
        for (let after = '', more = true; more; ) {
          const { body } = await get({ limit: String(limit), ...(after && { after }) })
          seen.push(...body.data.map(({ id }: { id: string }) => id))
          after = body.meta.next_after
          more = body.meta.has_more
        }
        expect(seen).toEqual(expected)
      }
    },
  )

  it('returns 403 for a filter without the scope of its event, and the events with it', async () => {
    const { log, as } = await logFor()
    for (const scope of READ_SCOPES) {
      const get = await as(scope)
      for (const event of EVENTS) {
        const response = await get({ event })
        // An import is shown by what was imported.
        if (event === IMPORT_COMPLETED)
          expect(response.body.data.length).toBe(scope === 'patient.read' ? 2 : 0)
        else if (scopeOf(event) === scope) expect(response.body.data.length).toBe(2)
        else expect(response).toMatchObject(missing(scopeOf(event)))
      }
    }
    expect(log.events.length).toBe(2 * EVENTS.length)
  })

  it('returns 400 for an unknown event and a malformed cursor, whatever the scopes', async () => {
    const { get } = await logFor()
    for (const query of [{ event: 'nothing' }, { after: 'x' }] as Record<string, string>[])
      expect((await get(query)).status).toBe(400)
  })
})

describe('the deliveries of an endpoint', () => {
  /** An endpoint with a delivery of each kind of record, and of a ping. */
  async function endpointWithDeliveries() {
    const one = await createPopulatedClinic(db.table)
    const webhook = await createWebhook(db.table, one.clinic.id)
    await eventFanOut({ table: db.table, now: Date.now, newId: newUuid }).fanOut(
      one.clinic.id,
      async () => {},
    )
    const use = async (...scopes: Scope[]) =>
      sendWith((await issueCredential(db.table, one.clinic, scopes)).headers)
    await use(...SCOPES)
    await ping(webhook.id)
    const all: { id: string; event: string }[] = (await deliveries(webhook.id)).body.data
    expect(all.map(({ event }) => event.split('.')[0]).sort()).toEqual([
      'appointment',
      'email',
      'invoice',
      'patient',
      'payment',
      'webhook',
    ])
    return { id: webhook.id, all, use }
  }

  it.each<Scope[][]>([[[]], ...READ_SCOPES.map((scope) => [[scope]])])(
    'are listed for %j if its records may be read; pings always are',
    async (scopes) => {
      const { id, all, use } = await endpointWithDeliveries()
      await use('webhook.read', ...scopes)
      const expected = all.filter(({ event }) => event === 'webhook.ping' || scopes.includes(scopeOf(event)))
      for (const limit of ['1', '100']) {
        const seen: { id: string; event: string }[] = []
        for (let after = '', more = true; more; ) {
          const { body } = await deliveries(id, { limit, ...(after && { after }) })
          seen.push(...body.data)
          // The id of a delivery that is left out would show that it exists.
          expect(body.meta.next_after).toBe(body.meta.has_more ? body.data.at(-1).id : null)
          after = body.meta.next_after ?? ''
          more = body.meta.has_more
        }
        expect(seen).toEqual(expected)
      }
    },
  )

  it('can be repeated only with the scope of the event', async () => {
    const { id, all, use } = await endpointWithDeliveries()
    for (const { id: delivery, event } of all) {
      const needed = event === 'webhook.ping' ? [] : [scopeOf(event)]
      await use('webhook.write', ...READ_SCOPES.filter((scope) => !needed.includes(scope)))
      if (needed.length > 0)
        expect(await expectUnchanged(() => redeliver(id, delivery))).toMatchObject(missing(...needed))
      await use('webhook.write', ...needed)
      expect((await redeliver(id, delivery)).status).toBe(202)
    }
  })
})
