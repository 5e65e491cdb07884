/** A pause of a clinic: the work that it holds back, and that nothing is lost or repeated after it. */
import { expect, it } from 'vitest'
import { sweepEvents } from '../../../../shared/delivery/webhooks/fan-out-clinics.ts'
import { sweepDeliveries } from '../../../../shared/delivery/webhooks/sweep-deliveries.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { DISABLE_AFTER_MS } from '../../../../shared/domain/webhooks/webhook.ts'
import { HEALTHY } from '../../../../shared/domain/webhooks/webhook-health.ts'
import { setPaused } from '../../../../shared/store/clinic-pause.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { credentialStore } from '../../../../shared/store/credentials.ts'
import { dueDeliveries } from '../../../../shared/store/events/due-deliveries.ts'
import { eventFanOut } from '../../../../shared/store/events/fan-out.ts'
import { listWebhookHealth, webhookHealthStore } from '../../../../shared/store/events/webhook-health.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { pausedClinics } from '../../../../shared/store/paused-clinics.ts'
import { issueCredential } from '../../../support/credentials.ts'
import { addChangesOfOneRecord, createWebhook, deliverySimulation } from '../../../support/deliveries.ts'
import { deployedStack } from '../../../support/deployed-stack.ts'
import { aPatient, newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

const MINUTE = 60_000
const PAUSED_AT = '2026-05-01T07:00:00.000Z'
const pause = ({ id }: Clinic) => setPaused(db.table, id, PAUSED_AT)
const resume = ({ id }: Clinic) => setPaused(db.table, id, null)

it('is in every credential of the clinic, and no longer once it has ended', async () => {
  const clinic = await newClinic(db.table)
  const { key } = await issueCredential(db.table, clinic)
  const pausedAt = async () =>
    (await credentialStore({ table: db.table, now: Date.now }).find(key))?.clinic.pausedAt
  await pause(clinic)
  expect(await pausedAt()).toBe(PAUSED_AT)
  expect((await issueCredential(db.table, clinic)).clinic.pausedAt).toBe(PAUSED_AT)
  await resume(clinic)
  expect(await pausedAt()).toBeUndefined()
})

it('is in effect from when credentials no longer allowed writes, also when it was stopped and repeated', async () => {
  const clinic = await newClinic(db.table)
  const inEffectAt = async () => (await clinicStore(db).find(clinic.id))?.pauseInEffectAt
  const pauseAt = (at: string) => setPaused({ ...db.table, now: () => Date.parse(at) }, clinic.id, PAUSED_AT)
  await issueCredential(db.table, clinic)
  await pauseAt('2026-05-01T07:00:05.000Z')
  expect(await inEffectAt()).toBe('2026-05-01T07:00:05.000Z')
  await pauseAt('2026-05-01T08:00:00.000Z')
  expect(await inEffectAt()).toBe('2026-05-01T07:00:05.000Z')
  await resume(clinic)
  expect(await inEffectAt()).toBeUndefined()
  // A pause that is stopped before it reaches the credentials.
  await clinicStore(db).update(clinic.id, { pausedAt: PAUSED_AT })
  await pauseAt('2026-05-01T09:00:00.000Z')
  expect(await inEffectAt()).toBe('2026-05-01T09:00:00.000Z')
})

it('deliveries of a paused clinic wait, those of others go out, and each goes out once after the pause', async () => {
  const [paused, other] = [await newClinic(db.table), await newClinic(db.table)]
  const simulation = deliverySimulation(db.table)
  const start = simulation.now
  for (const clinic of [paused, other]) {
    const webhook = await createWebhook(db.table, clinic.id)
    await simulation.push('quick', await addChangesOfOneRecord(db.table, clinic, webhook, 3, start))
  }
  await pause(paused)
  const { withoutPaused } = pausedClinics(db)
  const due = dueDeliveries(db)
  const run = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      await simulation.drain()
      simulation.now += MINUTE
      await sweepDeliveries({
        deliveries: { ...due, dueBatches: (until, size) => withoutPaused(due.dueBatches(until, size)) },
        queues: simulation.dependencies.queues,
        now: () => simulation.now,
      })
    }
  }
  await run(3)
  expect(simulation.received.length).toBe(3)
  await resume(paused)
  await run(2)
  expect(simulation.received.length).toBe(6)
  const ids = simulation.received.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(6)
})

it('does not count as time for which a webhook endpoint has failed, once clinic resume has ended it', async () => {
  const clinic = await newClinic(db.table)
  const { id } = await createWebhook(db.table, clinic.id)
  const at = Date.now() - DISABLE_AFTER_MS - 10 * MINUTE
  await webhookHealthStore(db).record(clinic.id, id, HEALTHY, { ...HEALTHY, failingSince: at })
  await setPaused(db.table, clinic.id, new Date(at + MINUTE).toISOString())
  const { run } = await deployedStack({ OperatorLogGroup: 'operator-group', TableName: db.name, Cell: 'a' })
  expect((await run('clinic', 'resume', '--clinic', clinic.id)).code).toBe(0)
  const failingFor = async () => {
    const health = await listWebhookHealth(db.table, clinic.id)
    return Date.now() - (health.get(id)?.failingSince ?? 0)
  }
  expect(await failingFor()).toBeLessThan(2 * MINUTE)
  // A second run has no pause to leave out.
  expect((await run('clinic', 'resume', '--clinic', clinic.id)).code).toBe(0)
  expect(await failingFor()).toBeGreaterThanOrEqual(MINUTE)
})

it('events of a paused clinic stay announced, do not count as late, and are fanned out once after the pause', async () => {
  const [paused, other] = [await newClinic(db.table), await newClinic(db.table)]
  for (const { id } of [paused, other]) {
    await createWebhook(db.table, id)
    await patientWriter(db).createMany(id, [aPatient()])
  }
  await pause(paused)
  const fanOut = eventFanOut({ table: db.table, now: Date.now, newId: newUuid })
  const pushed: string[] = []
  let lag = 0
  const sweep = () =>
    sweepEvents({
      events: fanOut,
      queues: { push: async (_, created) => void pushed.push(...created.map(({ clinic }) => clinic)) },
      now: () => Date.now() + 10 * MINUTE,
      reportLag: (ms) => {
        lag = ms
      },
    })
  await sweep()
  expect([pushed, lag > 5 * MINUTE]).toEqual([[other.id], true])
  await sweep()
  expect([pushed, lag]).toEqual([[other.id], 0])
  // A batch of the stream asks for one clinic.
  expect(await fanOut.fanOut(paused.id, async () => {})).toBe(false)
  await resume(paused)
  await sweep()
  await sweep()
  expect(pushed).toEqual([other.id, paused.id])
})
