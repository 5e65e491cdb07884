/** Guarantees of sweeps and fan-outs while providers hang, clinics have backlogs, clocks differ and sweeps overlap. */
import { beforeEach, expect, it, vi } from 'vitest'
import type { QueuedEmail } from '../../../../shared/delivery/email/email-queue.ts'
import { sendQueuedEmail } from '../../../../shared/delivery/email/send-queued-email.ts'
import { sweepMessages } from '../../../../shared/delivery/email/sweep-messages.ts'
import type { StoredMessage } from '../../../../shared/delivery/store-ports.ts'
import { sweepBatches } from '../../../../shared/delivery/sweep-batches.ts'
import { sweepEvents } from '../../../../shared/delivery/webhooks/fan-out-clinics.ts'
import { sweepDeliveries } from '../../../../shared/delivery/webhooks/sweep-deliveries.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { redelivered } from '../../../../shared/domain/webhooks/delivery-states.ts'
import { deliveryStore } from '../../../../shared/store/events/deliveries.ts'
import { dueDeliveries } from '../../../../shared/store/events/due-deliveries.ts'
import { eventStore } from '../../../../shared/store/events/events.ts'
import { eventFanOut } from '../../../../shared/store/events/fan-out.ts'
import { announcedPartition, announcedRange } from '../../../../shared/store/keys/events.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { dueMessageKey } from '../../../../shared/store/keys/messages.ts'
import { messageDispatch } from '../../../../shared/store/messages/dispatch.ts'
import { MAX_CREATED, patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { chunked } from '../../../../shared/store/table/chunked.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import {
  addChangesOfOneRecord,
  createWebhook,
  deliverySimulation,
  httpResponse,
} from '../../../support/deliveries.ts'
import { createAcceptedEmail } from '../../../support/emails.ts'
import { interruptedTable } from '../../../support/intercepted-table.ts'
import { aPatient, freshTable, newClinic, type TestTable } from '../../../support/table.ts'

let db: TestTable
beforeEach(async () => {
  // Sweeps read what is due of all clinics: what other tests left would take most of the time.
  db = await freshTable()
})
const MINUTE = 60_000

/** A clinic with so many events that wait, and so many endpoints: a transaction holds one event of twenty endpoints. */
async function backlog(events: number, endpoints: number) {
  const clinic = await newClinic(db.table)
  for (let n = 0; n < endpoints; n++) await createWebhook(db.table, clinic.id)
  for (const patients of chunked(
    Array.from({ length: events }, () => aPatient()),
    MAX_CREATED,
  ))
    await patientWriter(db).createMany(clinic.id, patients)
  return clinic
}
const placedOf = async (id: ClinicId) =>
  (await eventStore({ table: db.table, now: Date.now }).page(id, { limit: 100 }))?.items.length ?? 0

it('one clinic whose transactions hang does not hold up another in the sweep of events', async () => {
  const [slow, other] = [await backlog(60, 20), await backlog(60, 20)]
  const slowEvents = `${shortId(slow.id)}#E`
  const released = Promise.withResolvers<void>()
  const tryTransact: Table['tryTransact'] = async (...args) => {
    if (JSON.stringify(args).includes(slowEvents)) await released.promise
    return db.table.tryTransact(...args)
  }
  const table = { ...db.table, tryTransact }
  const events = eventFanOut({ table, now: Date.now, newId: newUuid })
  const mine = {
    fanOut: events.fanOut,
    clinicsWithAnnounced: async () =>
      (await events.clinicsWithAnnounced()).filter((id) => id === slow.id || id === other.id),
  }
  const sweep = sweepEvents({ events: mine, queues: { push: async () => {} }, now: Date.now })
  // The other clinic needs three turns.
  await vi.waitFor(async () => expect(await placedOf(other.id)).toBe(60), { timeout: 30_000, interval: 100 })
  expect(await placedOf(slow.id)).toBe(0)
  released.resolve()
  await sweep
  expect(await placedOf(slow.id)).toBe(60)
})

it.each([0, 4000])(
  'retries after 30 minutes and at most a tenth more, although the clock of the sweep is %i ms ahead',
  async (ahead) => {
    const clinic = await newClinic(db.table)
    const webhook = await createWebhook(db.table, clinic.id)
    const simulation = deliverySimulation(db.table, () => httpResponse(500))
    const [reference] = await addChangesOfOneRecord(db.table, clinic, webhook, 1, simulation.now)
    if (!reference) throw new Error('none')
    await simulation.push('quick', [reference])
    const deliveries = dueDeliveries(db)
    const start = simulation.now
    for (let second = 0; second < 55 * 60; second++) {
      simulation.now = start + second * 1000 + 500
      if (second % 60 === 17)
        await sweepDeliveries({
          deliveries,
          queues: { push: simulation.push },
          now: () => simulation.now + ahead,
        })
      const all = [...simulation.queues.quick, ...simulation.queues.slow]
      if (all.some(({ at }) => at <= simulation.now)) await simulation.drain()
    }
    const waits = simulation.received.slice(1).map(({ at }, n) => at - (simulation.received[n]?.at ?? 0))
    expect(waits.length).toBe(3)
    expect(waits[2]).toBeGreaterThanOrEqual(30 * MINUTE - 1000)
    expect(waits[2]).toBeLessThanOrEqual(33 * MINUTE + MINUTE)
  },
)

it('sweeps never make messages multiply: two sweeps at the same time during an outage of SES', async () => {
  const clinic = await newClinic(db.table)
  const patient = aPatient()
  await patientWriter(db).createMany(clinic.id, [patient])
  const start = Date.now()
  let now = start
  const messages = messageDispatch(db)
  const email = await createAcceptedEmail(db.table, clinic, patient, start - 10 * MINUTE)
  let queue: { email: QueuedEmail; at: number }[] = []
  const push = async (email: QueuedEmail, seconds = 0) => void queue.push({ email, at: now + seconds * 1000 })
  let calls = 0
  const sweep = () => sweepMessages({ messages, queue: { push }, now: () => now, count: () => {} })
  await Promise.all([sweep(), sweep()])
  let random = 0
  for (let minute = 0; minute < 120; minute++) {
    now = start + minute * MINUTE
    if (minute > 0) await sweep()
    const ready = queue.filter(({ at }) => at <= now)
    queue = queue.filter(({ at }) => at > now)
    for (const { email: queued } of ready)
      await sendQueuedEmail(
        {
          messages,
          mailSettings: async () => clinic,
          sender: {
            send: async () => {
              calls++
              return { kind: 'unavailable' } as never
            },
          },
          queue: { push },
          now: () => now,
          random: () => (random = (random + 0.37) % 1),
          newToken: newUuid,
          waitForTurn: async () => {},
        },
        queued,
      )
  }
  const own = queue.filter(({ email: queued }) => queued.message === email.id)
  expect.soft(calls).toBeGreaterThan(5)
  expect(own.length).toBe(1)
})

it('removes the due item of no email that is due then, although it was moved back since it was read', async () => {
  const clinic = await newClinic(db.table)
  const patient = aPatient()
  await patientWriter(db).createMany(clinic.id, [patient])
  const { id } = await createAcceptedEmail(db.table, clinic, patient, Date.now())
  const { find, postpone } = messageDispatch(db)
  const read = async () => (await find(clinic.id, id)) as StoredMessage
  const at = (await read()).record.dispatch?.dueAt as number
  await postpone(clinic.id, await read(), at + 1)
  const table = interruptedTable(db.table, async () => postpone(clinic.id, await read(), at))
  await messageDispatch({ table }).removeDue({ clinic: clinic.id, id, at })
  expect(await db.table.get(dueMessageKey({ clinic: clinic.id, id, at }))).toBeDefined()
})

it('sweepBatches throws the first error, at the end', async () => {
  async function* batches() {
    yield [{ at: 0 }]
    throw new Error('second')
  }
  await expect(
    sweepBatches(batches(), {
      work: async () => {
        throw new Error('first')
      },
      concurrency: 1,
      now: () => 0,
    }),
  ).rejects.toThrow('first')
})

it('does not lose, repeat or shorten a retry that is queued early and redelivered, attempted and swept meanwhile', async () => {
  const clinic = await newClinic(db.table)
  const webhook = await createWebhook(db.table, clinic.id)
  const { change } = deliveryStore(db)
  const simulation = deliverySimulation(db.table, () => httpResponse(500, null, 0))
  const [reference] = await addChangesOfOneRecord(db.table, clinic, webhook, 1, simulation.now)
  if (!reference) throw new Error('none')
  const attempted = { at: new Date(simulation.now).toISOString(), status: 500, error: null, latencyMs: 1 }
  const nextAt = simulation.now + 70_000
  await change(clinic.id, webhook.id, reference.delivery, (before) => ({
    ...before,
    attempts: [attempted],
    failedAttempts: 3,
    nextAt,
    dueAt: nextAt,
  }))
  const deliveries = dueDeliveries(db)
  const sweep = () =>
    sweepDeliveries({ deliveries, queues: { push: simulation.push }, now: () => simulation.now })
  await Promise.all([sweep(), sweep()])
  const start = simulation.now
  await change(clinic.id, webhook.id, reference.delivery, (before) => redelivered(before, simulation.now))
  await simulation.push('quick', [reference])
  for (let second = 0; second < 12 * 60; second++) {
    simulation.now = start + second * 1000 + 500
    if (second % 60 === 17) await Promise.all([sweep(), sweep()])
    await simulation.drain()
  }
  const waits = simulation.received.slice(1).map(({ at }, n) => at - (simulation.received[n]?.at ?? 0))
  expect(waits.map((ms) => Math.round(ms / 1000))).toEqual([5, 300])
})

it('a turn takes the events that have waited longest, so that none waits while others are added', async () => {
  const clinic = await backlog(110, 20)
  const events = eventFanOut({ table: db.table, now: Date.now, newId: newUuid })
  const oldest = (
    await db.table.query({ pk: announcedPartition(clinic.id), ...announcedRange(clinic.id), limit: 1 })
  )[0]
  // New records as fast as turns are taken: 20 events each.
  for (let turn = 0; turn < 6; turn++) {
    await events.fanOut(clinic.id, async () => {})
    await patientWriter(db).createMany(
      clinic.id,
      Array.from({ length: 20 }, () => aPatient()),
    )
  }
  const left = await db.table.query({
    pk: announcedPartition(clinic.id),
    ...announcedRange(clinic.id),
    limit: 1,
  })
  // 120 events have been placed since.
  expect(left[0]?.sk).not.toBe(oldest?.sk)
})
