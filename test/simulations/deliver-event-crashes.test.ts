/**
 * Histories in which fan-out, consumers and sweeps crash at any await, queues lose, repeat and reorder messages, and endpoints
 * fail, hang, and are disabled, enabled and deleted. No event is lost, and no delivery is pending for ever.
 */
import { expect, it } from 'vitest'
import { deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import { sweepDeliveries } from '../../shared/delivery/webhooks/sweep-deliveries.ts'
import type { AttemptResult } from '../../shared/delivery/webhooks/webhook-transport.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { Delivery, DeliveryQueue, DeliveryReference } from '../../shared/domain/webhooks/delivery.ts'
import { redelivered } from '../../shared/domain/webhooks/delivery-states.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { deliveryStore } from '../../shared/store/events/deliveries.ts'
import { deliveryAttempts } from '../../shared/store/events/delivery-attempts.ts'
import { dueDeliveries } from '../../shared/store/events/due-deliveries.ts'
import { eventStore } from '../../shared/store/events/events.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import { announcedPartition } from '../../shared/store/keys/events.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { mapConcurrent } from '../../shared/store/table/map-concurrent.ts'
import { Crashed, crashable, crashableTable } from '../support/crashable-table.ts'
import { createWebhook, httpResponse } from '../support/deliveries.ts'
import { mulberry32 } from '../support/random.ts'
import { rounds } from '../support/scale.ts'
import { aPatient, newClinic, tableOfFile } from '../support/table.ts'

const db = tableOfFile()

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
/** When messages are delivered again after a crash of their consumer (infra/messaging/queues.ts). */
const VISIBILITY_MS = 6 * MINUTE

/** What each endpoint does until all has been changed. Afterwards all respond with 200. */
const BEHAVIOURS = ['well', 'fails', 'hangs', 'slow', 'toggled', 'deleted'] as const
type Behaviour = (typeof BEHAVIOURS)[number]

type Message = { readonly queue: DeliveryQueue; readonly queued: DeliveryReference; readonly at: number }

async function history(seed: number): Promise<{ crashes: number; attempts: number; repeated: number }> {
  const random = mulberry32(seed)
  const clinic = await newClinic(db.table)
  const webhooks = new Map<string, Behaviour>()
  const idOf = new Map<Behaviour, string>()
  for (const behaviour of BEHAVIOURS) {
    const { id, url } = await createWebhook(db.table, clinic.id)
    webhooks.set(url, behaviour)
    idOf.set(behaviour, id)
  }
  let now = Date.now()
  let isTroubled = true
  let crashes = 0
  let messages: Message[] = []
  let attempts = 0
  /** How often each delivery was accepted, and those whose endpoint may be asked again: an outcome was lost, or a person asks. */
  const accepted = new Map<string, number>()
  const mayRepeat = new Set<string>()
  const shouldCrash = () => isTroubled && random() < 0.03 && ++crashes > 0
  const table = crashableTable(db.table, shouldCrash)

  const push = crashable(
    async (queue: DeliveryQueue, deliveries: readonly DeliveryReference[], delayMs: number = 0) => {
      for (const queued of deliveries) {
        const at = now + Math.ceil(delayMs / 1000) * 1000
        if (!(isTroubled && random() < 0.1)) messages.push({ queue, queued, at })
        if (random() < 0.2) messages.push({ queue, queued, at: at + random() * 30_000 })
      }
    },
    shouldCrash,
  )
  async function post(delivery: string, url: string, timeoutMs = 15_000): Promise<AttemptResult> {
    const behaviour = webhooks.get(url) as Behaviour
    const fails = isTroubled && (behaviour === 'fails' ? random() < 0.8 : random() < 0.1)
    const latencyMs = !isTroubled ? 10 : behaviour === 'hangs' ? 20_000 : behaviour === 'slow' ? 3000 : 10
    attempts++
    if (latencyMs > timeoutMs) return { kind: 'failed', reason: 'timeout', latencyMs: timeoutMs }
    if (!fails) accepted.set(delivery, (accepted.get(delivery) ?? 0) + 1)
    return httpResponse(fails ? 500 : 200, null, latencyMs)
  }
  const consumer = {
    deliveries: deliveryAttempts({ table }),
    webhooks: webhookStore({ table }),
    health: webhookHealthStore({ table }),
    queues: { push },
    now: () => now,
    random,
    newToken: newUuid,
  }
  const events = eventFanOut({ table, now: () => now, newId: newUuid })

  const survives = async (work: () => Promise<unknown>): Promise<boolean> =>
    work().then(
      () => true,
      (error) => {
        if (error instanceof Crashed) return false
        throw error
      },
    )
  const fanOut = () => survives(() => events.fanOut(clinic.id, (made) => push('quick', made)))
  const due = dueDeliveries({ table })
  const sweep = () =>
    survives(() =>
      sweepDeliveries({
        deliveries: {
          ...due,
          // Other histories use the same table.
          dueBatches: async function* (...args) {
            for await (const batch of due.dueBatches(...args))
              yield batch.filter((one) => one.clinic === clinic.id)
          },
        },
        queues: consumer.queues,
        now: () => now,
      }),
    )
  async function consume(): Promise<void> {
    for (;;) {
      const ready = messages.filter(({ at }) => at <= now).sort(() => random() - 0.5)
      if (ready.length === 0) return
      messages = messages.filter(({ at }) => at > now)
      // Two consumers, which may have copies of one message.
      const work = async () => {
        for (let one = ready.shift(); one; one = ready.shift()) {
          const { queued, queue } = one
          let isPosted = false
          const crashablePost = crashable(
            (url: string, _headers: object, _body: string, timeoutMs?: number) => {
              isPosted = true
              return post(queued.delivery, url, timeoutMs)
            },
            shouldCrash,
          )
          const transport = { post: crashablePost }
          if (await survives(() => deliverEvent({ ...consumer, transport }, queued, queue))) continue
          if (isPosted) mayRepeat.add(queued.delivery)
          messages.push({ ...one, at: now + VISIBILITY_MS })
        }
      }
      await Promise.all([work(), work()])
    }
  }
  const deliveriesOf = async (webhook: string): Promise<readonly Delivery[]> =>
    (await deliveryStore(db).page(clinic.id, webhook, { limit: 100 }, now))?.items ?? []
  const setActive = (isActive: boolean) =>
    webhookStore(db).change(clinic.id, idOf.get('toggled') as string, (before) => ({ ...before, isActive }))

  const patients = [aPatient(), aPatient()] as const
  await patientWriter(db).createMany(clinic.id, [...patients])
  for (let n = 0; n < 6; n++) {
    const patient = patients[n % 2] as (typeof patients)[number]
    await patientChanges(db.table).update(clinic.id, patient.id, { lastName: `Changed${n}` })
    // The stream invokes the fan-out, or loses the event.
    if (random() < 0.7) await fanOut()
    if (n === 2) await setActive(false)
    if (n === 4) await setActive(true)
    if (random() < 0.7) await consume()
    const one = (await deliveriesOf(idOf.get('fails') as string))[0]
    if (one && random() < 0.3) {
      const queued = { clinic: clinic.id, webhook: one.webhook, delivery: one.id }
      await deliveryStore(db).change(clinic.id, one.webhook, one.id, (before) => redelivered(before, now))
      mayRepeat.add(one.id)
      await survives(() => push('quick', [queued]))
    }
    now += Math.round(random() * 20_000)
  }
  await webhookStore(db).remove(clinic.id, idOf.get('deleted') as string)
  for (let round = 0; round < 12; round++) {
    await fanOut()
    await sweep()
    await consume()
    now += MINUTE
  }
  isTroubled = false

  // The clock moves to what is due next, as long as anything is pending.
  const end = now + 7 * DAY
  let all: Delivery[] = []
  for (;;) {
    await fanOut()
    await sweep()
    await consume()
    all = (await Promise.all([...idOf.values()].map(deliveriesOf))).flat()
    const pending = all.filter(({ status }) => status === 'pending')
    if (pending.length === 0 || now >= end) break
    const times = [...pending.map(({ dueAt }) => dueAt ?? end), ...messages.map(({ at }) => at)]
    now = Math.max(now + 1000, Math.ceil(Math.min(...times)))
  }

  const { items } = (await eventStore({ table: db.table, now: () => now }).page(clinic.id, {
    limit: 100,
  })) ?? {
    items: [],
  }
  for (const { id } of patients)
    expect(items.filter(({ record }) => record === id).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
  const left = await db.table.query({ pk: announcedPartition(clinic.id), limit: 1000 })
  expect(left.filter(({ sk }) => sk.startsWith(clinic.id.replaceAll('-', '')))).toEqual([])
  expect(all.filter(({ status }) => status === 'pending')).toEqual([])
  for (const [behaviour, webhook] of idOf) {
    if (behaviour === 'toggled' || behaviour === 'deleted') continue
    const mine = all.filter((one) => one.webhook === webhook)
    expect(mine.map(({ eventId }) => eventId).sort()).toEqual(items.map(({ id }) => `evt_${id}`).sort())
    expect(new Set(mine.map(({ status }) => status))).toEqual(new Set(['delivered']))
  }
  const repeated = [...accepted].filter(([, times]) => times > 1)
  expect(repeated.filter(([id]) => !mayRepeat.has(id))).toEqual([])
  return { crashes, attempts, repeated: repeated.length }
}

it('loses no event, leaves no delivery pending, and repeats none that was accepted unless its outcome was lost', async () => {
  const first = Number(process.env.SEED ?? 20261120)
  const sums = { crashes: 0, attempts: 0, repeated: 0 }
  const count = rounds(3, 500)
  const seeds = Array.from({ length: count }, (_, n) => first + n)
  await mapConcurrent(4, seeds, async (seed) => {
    const { crashes, attempts, repeated } = await history(seed).catch((error) => {
      throw new Error(`seed ${seed}`, { cause: error })
    })
    sums.crashes += crashes
    sums.attempts += attempts
    sums.repeated += repeated
  })
  process.stdout.write(`${count} histories from seed ${first}: ${JSON.stringify(sums)}\n`)
  expect(sums.crashes).toBeGreaterThan(0)
}, 7_200_000)
