/** A restore is rehearsed: a table as it was some time ago is settled from the one in use, and then used in its place. */
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import type { Message } from '../../../../shared/domain/messages/message.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import type { DeliveryReference } from '../../../../shared/domain/webhooks/delivery.ts'
import {
  reconcileWithoutSource,
  reconcileWithSource,
  UnfinishedErasure,
  UnknownClinic,
} from '../../../../shared/maintenance/restore/reconcile.ts'
import {
  beginRestorePause,
  DRAIN_MS,
  endRestorePause,
  NotPaused,
  OtherReplacement,
} from '../../../../shared/maintenance/restore/restore-pause.ts'
import { runMaintenanceWorker, WORKERS } from '../../../../shared/runtime/workers.ts'
import { treatmentStore } from '../../../../shared/store/catalogue.ts'
import { setPaused } from '../../../../shared/store/clinic-pause.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { deletedClinics } from '../../../../shared/store/copies/deleted-clinics.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { credentialUse } from '../../../../shared/store/credential-use.ts'
import { credentialStore } from '../../../../shared/store/credentials.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { dueDeliveries } from '../../../../shared/store/events/due-deliveries.ts'
import { eventStore } from '../../../../shared/store/events/events.ts'
import { eventFanOut } from '../../../../shared/store/events/fan-out.ts'
import { webhookStore } from '../../../../shared/store/events/webhooks.ts'
import { clinicDirectoryKey, clinicKey } from '../../../../shared/store/keys/clinics.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { messageQuotaKey } from '../../../../shared/store/keys/messages.ts'
import { messageDispatch } from '../../../../shared/store/messages/dispatch.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { messageQuotas } from '../../../../shared/store/messages/quotas.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { idempotencyGuard } from '../../../../shared/store/table/idempotency.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { batch, feedback } from '../../../infra/functions/worker-events.ts'
import { itemsWith } from '../../../support/all-items.ts'
import { issueCredential } from '../../../support/credentials.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { createAcceptedEmail } from '../../../support/emails.ts'
import { filledPatient } from '../../../support/filled-records.ts'
import { handlerOf, stubFunctionEnvironment } from '../../../support/functions.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { restored as copyOf } from '../../../support/restored.ts'
import { newHold } from '../../../support/route-samples.ts'
import { aPatient, freshTable, newClinic, type TestTable, tableOfFile } from '../../../support/table.ts'
import { tableText } from '../../../support/table-text.ts'
import { runVerification } from '../verify/practice.ts'
import { type Practice, practiceInUse } from './practice-in-use.ts'

const MINUTE = 60_000
const CANARY = /canar/
const start = Date.now()
/** Settles a restored table from its source. */
const reconciled = (source: TestTable, restored: TestTable, restore: string) =>
  reconcileWithSource({ source: source.table, restored: restored.table }, { restore, now: Date.now })
const by = { at: new Date(start).toISOString(), operator: 'eva' }
const erase = (table: Table, clinic: Clinic, patient: string) =>
  patientChanges(table).erase(clinic.id, patient, by)

/** Pauses the clinics of a table at a time until another is used, as `restore reconcile` does. */
const pauseAt = (table: Table, at: number, name = 'restored-1', sleep = async (_: number) => {}) =>
  beginRestorePause({ ...table, now: () => at }, name, sleep)

const resume = async (table: Table) => {
  for (const clinic of await clinicStore({ table }).list()) await endRestorePause(table, clinic)
}

const rename = (table: Table, clinic: Clinic, patient: string, firstName: string) =>
  patientChanges(table).update(clinic.id, patient, { firstName })

async function changeDoctor(table: Table, clinic: Clinic, id: string, specialty: string): Promise<void> {
  const before = await doctorStore({ table }).find(clinic.id, id)
  if (before) await doctorStore({ table }).save(clinic.id, [{ before, after: { ...before, specialty } }])
}

describe('a restored table that is settled from the table in use', () => {
  const source = tableOfFile()
  let restored: TestTable
  let world: PopulatedClinic
  let practice: Practice
  let reconciliation: Awaited<ReturnType<typeof reconcileWithSource>>
  const mail: Record<string, Message> = {}
  const tables = () => ({ source: source.table, restored: restored.table })
  let restore: string
  let hold: string
  const reconcile = () => reconcileWithSource(tables(), { restore, now: () => start + 30 * MINUTE })
  const credentials = (db: TestTable) => credentialStore({ table: db.table, now: Date.now })
  const pairs: Record<string, { key: string; secret: string }> = {}
  const guard = (db: TestTable) =>
    idempotencyGuard(
      { table: db.table, now: () => start },
      { clinic: world.clinic.id, credential: 'ck_a_1', route: 'send-message', key: 'once', body: 'late' },
    )

  beforeAll(async () => {
    const { table } = source
    world = await createPopulatedClinic(table)
    const { clinic, patient } = world
    const erased = filledPatient()
    await patientWriter({ table }).createMany(clinic.id, [erased])
    practice = practiceInUse(clinic)
    const email = async (name: string, to = patient, facts: Partial<Message> = {}) => {
      mail[name] = await createAcceptedEmail(table, clinic, to, start, facts)
    }
    const issue = async (name: string) => {
      const wanted = {
        name,
        clinic: clinic.id,
        cell: 'a',
        scopes: [],
        expiresAt: null,
        requestsPerMinute: null,
      }
      pairs[name] = await credentials(source).issue(wanted)
    }
    await issue('kept')
    await issue('revoked')
    const createdBy = pairs.kept?.key as string
    await createWebhook(table, clinic.id, { createdBy })
    const removed = await createWebhook(table, clinic.id, { createdBy, isActive: false })
    await practice.deliverEvents(table, start)
    for (const name of ['sent since', 'waiting', 'stuck', 'failed since']) await email(name)
    await rename(table, clinic, patient.id, 'Announced')

    hold = (await newHold(table, world)).hold_not_found
    // The restored time is within the pause of a restore that was then given up.
    await pauseAt(table, start, 'other')
    restored = await copyOf(source)
    await resume(table)

    const { id: stuck } = mail.stuck as Message
    const read = await messageStore({ table }).find(clinic.id, stuck)
    if (read) await messageDispatch({ table }).claim(clinic.id, read, { token: 'dead', until: start + 1 })
    await practice.sendEmails(table, start + 5 * MINUTE, [mail['sent since']?.id as string])
    await messageDispatch({ table }).recordFeedback(clinic.id, mail['failed since']?.id as string, {
      kind: 'failed',
      reason: 'bounce',
    })
    await email('accepted since and sent', patient, {
      dispatch: { dueAt: start, claim: null, isUnresolved: false },
    })
    await practice.sendEmails(table, start + 6 * MINUTE, [mail['accepted since and sent']?.id as string])
    await email('accepted since')
    const changes = new Changeset(table, clinic.id)
    guard(source).store(changes, 202, { id: 'late' }, patient.id)
    await changes.commit()
    const later = aPatient()
    await patientWriter({ table }).createMany(clinic.id, [later])
    await email('of a later patient', later)
    await practice.deliverEvents(table, start + 7 * MINUTE)
    await rename(table, clinic, patient.id, 'Wrong')
    await practice.deliverEvents(table, start + 8 * MINUTE)
    await rename(table, clinic, patient.id, 'Wronger')
    await eventFanOut({ table, now: () => start, newId: newUuid }).fanOut(clinic.id, async () => {})
    await rename(table, clinic, patient.id, 'Wrongest')
    await changeDoctor(table, clinic, world.doctor.id, 'Wrong')
    const before = await treatmentStore({ table }).find(clinic.id, world.treatment.id)
    if (before) await treatmentStore({ table }).save(clinic.id, [{ before, after: { ...before, price: 1 } }])
    await table.putMany([{ ...messageQuotaKey(clinic.id, '2026-05-01'), email: 5 }])
    await credentials(source).revoke(pairs.revoked?.key as string)
    await issue('issued since')
    const used = await credentials(source).authenticate(pairs.kept as never)
    if (used) await credentialUse({ table, now: () => start }).recordUse(used)
    await clinicStore({ table }).update(clinic.id, { name: 'Wrong name' })
    const changed = await clinicStore({ table }).find(clinic.id)
    if (changed) await credentials(source).refreshClinic(changed)
    await webhookStore({ table }).remove(clinic.id, removed.id)
    await erase(table, clinic, erased.id)
    await newClinic(table)

    restore = await pauseAt(table, start + 10 * MINUTE)
    reconciliation = await reconcile()
  })

  it('leaves the table in use paused: no credential may write, and no worker changes anything', async () => {
    const { table } = source
    const authenticated = async (db: TestTable) =>
      (await credentials(db).authenticate(pairs.kept as never))?.clinic.pausedAt
    expect([await authenticated(source), await authenticated(restored)]).toEqual([
      new Date(start + 10 * MINUTE).toISOString(),
      undefined,
    ])
    const before = await tableText(source)
    const sent = practice.sent.length
    const { id: message } = mail.waiting as Message
    const deliveries: DeliveryReference[] = []
    for await (const due of dueDeliveries(source).dueBatches(Number.MAX_SAFE_INTEGER, 100))
      deliveries.push(...due.map(({ clinic, webhook, id }) => ({ clinic, webhook, delivery: id })))
    expect(deliveries.length).toBeGreaterThan(0)
    await practice.sendEmails(table, start + 20 * MINUTE)
    await practice.sendQueued(table, start + 20 * MINUTE, { clinic: world.clinic.id, message, waits: 0 })
    await practice.deliverEvents(table, start + 20 * MINUTE, deliveries)
    stubFunctionEnvironment(source.name)
    vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const report = (await handlerOf({ id: 'email-feedback' })) as (event: object) => Promise<unknown>
    const reported = report(batch([feedback(world.clinic.id, 'Bounce', message)]))
    await expect(reported).rejects.toThrow('email-feedback failed')
    expect([await tableText(source), practice.sent.length]).toEqual([before, sent])
  })

  it('has the clinic data of the restored time, and verifies without a difference', async () => {
    const { clinic, patient } = world
    expect((await runVerification(restored.table, clinic.id)).found).toEqual([])
    expect(await patientStore(restored).find(clinic.id, patient.id)).toMatchObject({ firstName: 'Announced' })
    expect((await clinicStore(restored).find(clinic.id))?.name).toBe(clinic.name)
    expect(reconciliation.missing.length).toBe(1)
  })

  it('has no hold', async () => {
    const traces = ['"holds"', hold, shortId(hold)]
    expect(await itemsWith(source, ...traces)).toHaveLength(4)
    expect(await itemsWith(restored, ...traces)).toEqual([])
  })

  it('has nothing of a patient who was erased since', async () => {
    expect(reconciliation.clinics[0]?.erasures).toEqual({ erased: 1, already_erased: 0, unknown: 0 })
    expect(await tableText(restored)).not.toMatch(CANARY)
  })

  it('has the credentials and endpoints as they are, with the restored settings of the clinic', async () => {
    const { clinic } = world
    const authenticate = (name: string) => credentials(restored).authenticate(pairs[name] as never)
    expect(await authenticate('revoked')).toBeNull()
    expect((await authenticate('kept'))?.clinic.name).toBe(clinic.name)
    expect((await authenticate('issued since'))?.clinic.name).toBe(clinic.name)
    const listed = await credentials(restored).list(clinic.id)
    const used = listed.filter(({ lastUsedAt }) => lastUsedAt !== null)
    expect([listed.length, used.map(({ name }) => name)]).toEqual([3, ['kept']])
    expect((await webhookStore(restored).list(clinic.id)).length).toBe(1)
  })

  it('has the response to a request that sent a message since, so that a repetition sends nothing', async () => {
    expect(await guard(restored).find()).toMatchObject({ status: 202, body: '{"id":"late"}' })
  })

  it('has counted the messages of the day', async () => {
    expect(await messageQuotas(restored).sentToday(world.clinic.id, '2026-05-01', 'email')).toBe(5)
  })

  it('changes nothing when it is settled again', async () => {
    const before = await tableText(restored)
    await reconcile()
    expect(await tableText(restored)).toBe(before)
  })

  it('sends every email once, and leaves the one with an unknown outcome to a person', async () => {
    await practice.sendEmails(restored.table, start + 40 * MINUTE)
    await practice.sendEmails(restored.table, start + 120 * MINUTE)
    const sent = ['sent since', 'accepted since and sent', 'waiting', 'accepted since']
    expect(practice.sent.toSorted()).toEqual(sent.map((name) => mail[name]?.id).toSorted())
    const unresolved = await messageDispatch(restored).unresolved()
    expect(unresolved.map(({ id }) => id)).toEqual([mail.stuck?.id])
    const failed = await messageStore(restored).find(world.clinic.id, mail['failed since']?.id as string)
    expect(failed?.record).toMatchObject({ status: 'failed', errorMessage: 'bounce', dispatch: null })
    expect(reconciliation.clinics[0]?.messages).toMatchObject({ added: 2, patient_unknown: 1 })
  })

  it('delivers every event once, and continues the sequence of a record and the positions of the clinic', async () => {
    const { clinic, patient, doctor } = world
    const listed = async (db: TestTable) =>
      (await eventStore({ table: db.table, now: () => start }).page(clinic.id, { limit: 1000 }))?.items ?? []
    const known = await listed(source)
    await practice.deliverEvents(restored.table, start + 60 * MINUTE)
    await rename(restored.table, clinic, patient.id, 'Restored')
    await changeDoctor(restored.table, clinic, doctor.id, 'Restored')
    await practice.deliverEvents(restored.table, start + 90 * MINUTE)
    const after = await listed(restored)
    expect(after.slice(0, known.length)).toEqual(known)
    expect(new Set(practice.received).size).toBe(practice.received.length)
    expect(practice.received.toSorted()).toEqual(after.map(({ id }) => `evt_${id}`).toSorted())
    const sequence = practice.sequences.get(patient.id) ?? []
    expect(sequence.toSorted()).toEqual(sequence.map((_, index) => index + 1))
    expect(sequence.length).toBe(6)
    expect(practice.sequences.get(doctor.id)?.toSorted()).toEqual([1, 2])
  })
})

it('a restored table whose source is lost leaves messages without an outcome to a person, and positions new events after all that can have been read', async () => {
  const db = await freshTable()
  const { clinic, patient } = await createPopulatedClinic(db.table)
  const practice = practiceInUse(clinic)
  await createWebhook(db.table, clinic.id)
  await practice.deliverEvents(db.table, start)
  const { id } = await createAcceptedEmail(db.table, clinic, patient, start)
  const options = { restore: 'restored-1', now: () => start }

  expect(await reconcileWithoutSource(db.table, options)).toMatchObject({ held: 1 })
  const text = await tableText(db)
  expect(await reconcileWithoutSource(db.table, options)).toMatchObject({ held: 0 })
  expect(await tableText(db)).toBe(text)

  await practice.sendEmails(db.table, start + 20 * MINUTE)
  expect(practice.sent).toEqual([])
  expect((await messageDispatch(db).unresolved()).map((item) => item.id)).toEqual([id])
  await rename(db.table, clinic, patient.id, 'New')
  await practice.deliverEvents(db.table, start + 20 * MINUTE)
  const events = eventStore({ table: db.table, now: () => start })
  const lastLost = await events.page(clinic.id, { after: '5000000', limit: 10 })
  expect(lastLost?.items.map(({ event }) => event)).toEqual(['patient.updated'])
})

it('settles the other clinics if one cannot be settled, and names it', async () => {
  const db = await freshTable()
  const [one, other] = [await newClinic(db.table), await newClinic(db.table)]
  const failing: Table = {
    ...db.table,
    update: (key, parts) =>
      key.pk.startsWith(shortId(one.id)) ? Promise.reject(new Error('unknown')) : db.table.update(key, parts),
  }
  const failed: string[] = []
  const reconciliation = await reconcileWithoutSource(failing, {
    restore: 'restored-1',
    now: () => start,
    onClinicFailed: (id, { message }) => failed.push(`${id} ${message}`),
  })
  expect([failed, reconciliation]).toMatchObject([
    [`${one.id} unknown`],
    { clinics: [{ clinic: { id: other.id } }], reconciled: 1, failed: 1 },
  ])
})

it('rejects a source that lacks a clinic of the restored table, before anything is changed', async () => {
  const [source, restored] = [await freshTable(), await freshTable()]
  await createPopulatedClinic(source.table)
  const { clinic } = await createPopulatedClinic(restored.table)
  await createWebhook(restored.table, clinic.id)
  const restore = await pauseAt(source.table, start)
  const before = await tableText(restored)
  const reconciling = reconciled(source, restored, restore)
  await expect(reconciling).rejects.toThrow(UnknownClinic)
  await expect(reconciling).rejects.toMatchObject({ wasDeleted: false })
  await deletedClinics(source).begin(clinic.id, { at: clinic.createdAt, operator: 'eva' })
  const again = reconciled(source, restored, restore)
  await expect(again).rejects.toMatchObject({ wasDeleted: true })
  expect(await tableText(restored)).toBe(before)
})

it('rejects a clinic that is being deleted from the source: it would be served again', async () => {
  const source = await freshTable()
  const { id } = await newClinic(source.table)
  const restored = await copyOf(source)
  await deletedClinics(source).begin(id, by)
  await clinicStore(source).beginDeletion(id, by.at)
  const restore = await pauseAt(source.table, start)
  const reconciling = reconciled(source, restored, restore)
  await expect(reconciling).rejects.toMatchObject({ clinic: id, wasDeleted: true })
  await restored.table.deleteMany([clinicKey(id), clinicDirectoryKey(id)])
  expect(await reconciled(source, restored, restore)).toMatchObject({ reconciled: 0, missing: [] })
})

it('leaves the pause of an operator as it is, whatever it was at the restored time', async () => {
  const source = await freshTable()
  const open = () => newClinic(source.table)
  const [held, served, interrupted] = [await open(), await open(), await open()]
  await setPaused(source.table, served.id, by.at)
  const restored = await copyOf(source)
  await setPaused(source.table, held.id, by.at)
  await setPaused(source.table, served.id, null)
  // A restore of one clinic pauses it, too.
  await setPaused(source.table, interrupted.id, by.at)
  await clinicStore(source).update(interrupted.id, {
    restoring: { to: by.at, from: 'copy', wasPaused: false },
  })
  const pair = await issueCredential(source.table, held)
  const restore = await pauseAt(source.table, start + MINUTE)
  await reconciled(source, restored, restore)
  const { find } = clinicStore(restored)
  const pauses = [held, served, interrupted].map(async ({ id }) => (await find(id))?.pausedAt)
  expect(await Promise.all(pauses)).toEqual([by.at, undefined, undefined])
  const authenticated = await credentialStore({ ...restored, now: Date.now }).authenticate(pair)
  expect(authenticated?.clinic.pausedAt).toBe(by.at)
})

it('rejects a source with an interrupted erasure, before anything is changed', async () => {
  const source = await freshTable()
  const { clinic, patient } = await createPopulatedClinic(source.table)
  const restored = await copyOf(source)
  const before = await tableText(restored)
  const crashing: Table = {
    ...source.table,
    tryTransact: async (writes) => {
      await source.table.tryTransact(writes)
      throw new Error('crash')
    },
  }
  await expect(erase(crashing, clinic, patient.id)).rejects.toThrow('crash')
  const restore = await pauseAt(source.table, start)
  const reconciling = reconciled(source, restored, restore)
  await expect(reconciling).rejects.toThrow(UnfinishedErasure)
  expect(await tableText(restored)).toBe(before)
})

describe('the pause of all clinics for a restore', () => {
  const waits: number[] = []
  const sleep = async (ms: number) => void waits.push(ms)

  it('waits longer than any function runs, and only once', async () => {
    const others = WORKERS.filter(({ id }) => id !== runMaintenanceWorker.id)
    expect(Math.max(...others.map(({ timeoutSeconds = 0 }) => timeoutSeconds)) * 1000).toBeLessThan(DRAIN_MS)
    const { table } = await freshTable()
    await newClinic(table)
    const pause = await pauseAt(table, start, 'restored-1', sleep)
    expect(await pauseAt(table, start + DRAIN_MS, 'restored-1', sleep)).toBe(pause)
    expect(waits).toEqual([DRAIN_MS])
  })

  it('is another one if a clinic was not paused in between', async () => {
    const { table } = await freshTable()
    await newClinic(table)
    const pause = await pauseAt(table, start)
    await newClinic(table)
    expect(await pauseAt(table, start + MINUTE)).not.toBe(pause)
  })

  it('ends with the restore that is given up, except for clinics that an operator had paused', async () => {
    const { table } = await freshTable()
    const [{ id }, other] = [await newClinic(table), await newClinic(table)]
    await setPaused(table, id, by.at)
    await pauseAt(table, start + MINUTE)
    await expect(pauseAt(table, start + MINUTE, 'restored-2')).rejects.toThrow(OtherReplacement)
    await resume(table)
    const { find } = clinicStore({ table })
    expect((await find(id))?.pausedAt).toBe(by.at)
    expect(await find(other.id)).toEqual({
      ...other,
      version: expect.any(Number),
      recipientSecret: expect.any(String),
    })
  })

  it('is required from the beginning of a reconciliation to its end', async () => {
    const source = await freshTable()
    await newClinic(source.table)
    const restored = await copyOf(source)
    const tables = { source: source.table, restored: restored.table }
    const before = await tableText(restored)
    const options = { restore: `restored-1 ${by.at}`, now: Date.now }
    await expect(reconcileWithSource(tables, options)).rejects.toThrow(NotPaused)
    await pauseAt(source.table, start, 'restored-2')
    await expect(reconcileWithSource(tables, options)).rejects.toThrow(NotPaused)
    expect(await tableText(restored)).toBe(before)
    await resume(source.table)
    const restore = await pauseAt(source.table, start)
    // Its clinics are listed once it is known that the source is paused.
    const query: Table['query'] = async (...query) => {
      await resume(source.table)
      return restored.table.query(...query)
    }
    const resuming = reconcileWithSource(
      { ...tables, restored: { ...restored.table, query } },
      { restore, now: Date.now },
    )
    await expect(resuming).rejects.toThrow(NotPaused)
  })
})
