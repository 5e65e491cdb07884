import { describe, expect, it } from 'vitest'
import { type DeliverySweep, sweepDeliveries } from '../../../../shared/delivery/webhooks/sweep-deliveries.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import type { Delivery, DeliveryQueue } from '../../../../shared/domain/webhooks/delivery.ts'
import { chunked } from '../../../../shared/store/table/chunked.ts'
import { aDelivery as newDelivery } from '../../../support/sample-records.ts'

const CLINIC = '6d0e2a7c-0000-4000-8000-000000000001' as ClinicId
const OTHER_CLINIC = '6d0e2a7c-0000-4000-8000-000000000009' as ClinicId
const WEBHOOK = '6d0e2a7c-0000-4000-8000-000000000002'
const NOW = Date.parse('2026-05-01T07:00:00Z')
const MINUTE = 60_000
const DUE = NOW - MINUTE
const NEXT_CHECK = NOW + 10 * MINUTE

const attempt = { at: '2026-05-01T06:00:00.000Z', status: 500, error: null, latencyMs: 12 }

const aDelivery = (id: string, facts: Partial<Delivery> = {}) => newDelivery(DUE, { id, ...facts })
const clinicOf = (id: string) => (id === 'other' ? OTHER_CLINIC : CLINIC)
const claimedUntil = (until: number) => ({ claim: { token: 't', until } })
const done = { status: 'delivered', nextAt: null, dueAt: null } as const

type Done =
  | [what: 'push', way: DeliveryQueue, id: string]
  | [what: 'change', id: string, dueAt: number | null]
  | [what: 'remove', id: string]

type Broken = Partial<Record<'read' | 'find' | 'push' | 'change' | 'remove', string>>

/**
 * Sweeps the given due deliveries and returns the calls made. A delivery of null does not exist, `broken` calls fail for one
 * id, and `later` has the state of a delivery after it was read.
 */
async function swept(
  deliveries: Record<string, Delivery | null>,
  broken: Broken = {},
  later: Record<string, Delivery> = {},
  { dueAt = DUE, now = () => NOW }: { dueAt?: number; now?: () => number } = {},
) {
  const did: Done[] = []
  const stored: Record<string, Delivery | null> = { ...deliveries, ...later }
  const asked: unknown[][] = []
  let under = 0
  let most = 0
  const breaks = (name: keyof Broken, id: string) => {
    if (broken[name] === id) throw new Error(`no ${name}`)
  }
  const sweep: DeliverySweep = {
    now,
    queues: {
      push: async (way, pushed, delayMs) => {
        for (const { delivery, ...rest } of pushed) {
          breaks('push', delivery)
          expect(rest).toEqual({ clinic: clinicOf(delivery), webhook: WEBHOOK })
          did.push(['push', way, delivery])
        }
        expect(delayMs).toBe(Math.max(0, dueAt - NOW))
      },
    },
    deliveries: {
      dueBatches: async function* (...args) {
        asked.push(args)
        for (const batch of chunked(Object.keys(deliveries), 10)) {
          if (broken.read === batch[0]) throw new Error('no read')
          yield batch.map((id) => ({ clinic: clinicOf(id), webhook: WEBHOOK, id, at: dueAt }))
        }
      },
      find: async (_clinic, _webhook, id) => {
        most = Math.max(most, ++under)
        await new Promise((resolve) => setImmediate(resolve))
        under--
        breaks('find', id)
        return deliveries[id] ?? null
      },
      change: async (_clinic, _webhook, id, to) => {
        breaks('change', id)
        const before = stored[id]
        const after = before ? to(before) : null
        if (after) {
          expect(after).toEqual({ ...before, dueAt: after.dueAt })
          did.push(['change', id, after.dueAt])
          stored[id] = after
        }
        return after
      },
      removeDue: async (due) => {
        breaks('remove', due.id)
        expect(due).toEqual({ clinic: clinicOf(due.id), webhook: WEBHOOK, id: due.id, at: dueAt })
        did.push(['remove', due.id])
      },
    },
  }
  const failed = await sweepDeliveries(sweep).then(
    () => null,
    (error) => (error as Error).message,
  )
  return { did, asked, failed, most }
}

describe('the sweep of deliveries', () => {
  it('reads the deliveries that are due before the next sweep', async () => {
    expect(await swept({})).toMatchObject({ did: [], asked: [[NOW + 75_000, 100]], failed: null })
  })

  it('queues a retry that falls due later with its delay, so that it is not late by a sweep', async () => {
    const dueAt = NOW + 74_000
    const retry = aDelivery('d', { attempts: [attempt], failedAttempts: 4, nextAt: dueAt, dueAt })
    expect(await swept({ d: retry }, {}, {}, { dueAt })).toMatchObject({
      did: [
        ['change', 'd', dueAt + 10 * MINUTE],
        ['push', 'quick', 'd'],
      ],
    })
  })

  it('leaves a delivery whose message is on its way until the time of its check', async () => {
    const dueAt = NOW + 1
    expect(await swept({ d: aDelivery('d', { dueAt }) }, {}, {}, { dueAt })).toMatchObject({ did: [] })
  })

  it('processes batch after batch until its time is up', async () => {
    const all = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n}`, aDelivery(`d${n}`, done)]))
    expect((await swept(all)).did.length).toBe(40)
    // The clock is read before each delivery: 45 s have passed before the 23rd.
    let reads = 0
    const now = () => NOW + 2000 * reads++
    const { did } = await swept(all, {}, {}, { now })
    expect(did.length).toBeGreaterThanOrEqual(15)
    expect(did.length).toBeLessThan(23)
  })

  it.each<[string, Delivery | null]>([
    ['that does not exist', null],
    ['that was delivered', aDelivery('d', done)],
    ['that has failed', aDelivery('d', { ...done, status: 'failed' })],
    ['that is due later', aDelivery('d', { dueAt: DUE + 1 })],
    ['that was due before', aDelivery('d', { dueAt: DUE - 1 })],
  ])('removes the due item of a delivery %s', async (_, delivery) => {
    expect(await swept({ d: delivery })).toMatchObject({ did: [['remove', 'd']], failed: null })
  })

  it('queues a first attempt in the quick queue and checks it again after ten minutes', async () => {
    expect(await swept({ d: aDelivery('d') })).toMatchObject({
      did: [
        ['change', 'd', NEXT_CHECK],
        ['push', 'quick', 'd'],
      ],
      failed: null,
    })
  })

  it.each([
    [9, 10],
    [25, 25],
    [300, 60],
  ])('checks one that has waited for %i minutes again after %i', async (waited, after) => {
    const { did } = await swept({ d: aDelivery('d', { nextAt: NOW - waited * MINUTE }) })
    expect(did).toContainEqual(['change', 'd', NOW + after * MINUTE])
  })

  it('leaves those of a clinic with more than a thousand to the next run, and goes on to other clinics', async () => {
    const ids = [...Array.from({ length: 1005 }, (_, n) => `d${n}`), 'other']
    const { did } = await swept(Object.fromEntries(ids.map((id) => [id, aDelivery(id, done)])))
    expect(did.map(([, id]) => id)).toEqual([...ids.slice(0, 1000), 'other'])
  })

  it('does nothing while a delivery is claimed', async () => {
    expect(await swept({ d: aDelivery('d', claimedUntil(NOW + 1)) })).toMatchObject({ did: [], failed: null })
  })

  it.each([NOW, NOW - 1, NOW - 60 * MINUTE])('queues a delivery whose claim expired at %i', async (until) => {
    const { did } = await swept({ d: aDelivery('d', claimedUntil(until)) })
    expect(did).toContainEqual(['push', 'quick', 'd'])
  })

  it('does not queue a delivery that changed since it was read', async () => {
    const moved = aDelivery('d', {
      attempts: [attempt],
      failedAttempts: 1,
      nextAt: NOW + 5000,
      dueAt: NOW + 5000,
    })
    const { did } = await swept({ d: aDelivery('d') }, {}, { d: moved })
    expect(did).toEqual([])
  })

  it('leaves a delivery that could not be queued to the next sweep', async () => {
    expect(await swept({ d: aDelivery('d') }, { push: 'd' })).toMatchObject({
      did: [
        ['change', 'd', NEXT_CHECK],
        ['change', 'd', DUE],
      ],
      failed: 'no push',
    })
  })

  it('processes each due delivery once, up to sixteen concurrently', async () => {
    const all = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`d${n}`, aDelivery(`d${n}`)]))
    const { did, most } = await swept(all)
    const pushed = did.flatMap(([what, , id]) => (what === 'push' ? [id] : []))
    expect(pushed.sort()).toEqual(Object.keys(all).sort())
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(16)
  })

  it.each<[string, Broken]>([
    ['cannot be read', { find: 'a' }],
    ['cannot be queued', { push: 'a' }],
    ['cannot be postponed', { change: 'a' }],
    ['cannot be removed', { remove: 'a' }],
  ])('processes the other deliveries and fails when one %s', async (_, broken) => {
    const a = 'remove' in broken ? aDelivery('a', done) : aDelivery('a')
    const { did, failed } = await swept({ a, b: aDelivery('b'), c: aDelivery('c') }, broken)
    for (const id of ['b', 'c']) expect(did).toContainEqual(['push', 'quick', id])
    expect(failed).toBe(`no ${Object.keys(broken)[0]}`)
  })
})
