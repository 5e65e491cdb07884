/** From the change of a record to its events and deliveries, on the real engine. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Appointment } from '../../../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import type { Message } from '../../../../shared/domain/messages/message.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import type { RecordStore } from '../../../../shared/store/calendar/calendar-list.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { deliveryStore } from '../../../../shared/store/events/deliveries.ts'
import { eventStore } from '../../../../shared/store/events/events.ts'
import { eventFanOut } from '../../../../shared/store/events/fan-out.ts'
import { webhookStore } from '../../../../shared/store/events/webhooks.ts'
import {
  ALL_ANNOUNCED_PARTITIONS,
  announcedKey,
  announcedPartition,
} from '../../../../shared/store/keys/events.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { chunked } from '../../../../shared/store/table/chunked.ts'
import { retryOnConflict } from '../../../../shared/store/table/retries.ts'
import { withoutEvents } from '../../../../shared/store/table/table.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { createAcceptedEmail } from '../../../support/emails.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { aPatient, newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

const platform = () => ({ table: db.table, now: Date.now, newId: newUuid })
const fanOut = (clinic: ClinicId, push: (made: unknown[]) => Promise<void> = async () => {}) =>
  eventFanOut(platform()).fanOut(clinic, push)

/** All events of a clinic in order. */
async function eventsOf(clinic: ClinicId) {
  await fanOut(clinic)
  const page = await eventStore(platform()).page(clinic, { limit: 100 })
  return (page?.items ?? []).map(({ event, record, sequence, data }) => ({ event, record, sequence, data }))
}

async function changed<R extends { readonly id: string }>(
  clinic: ClinicId,
  list: RecordStore<R>,
  id: string,
  facts: Partial<R>,
) {
  const stored = await list.find(clinic, id)
  if (!stored) throw new Error('no such record')
  const changes = new Changeset(db.table, clinic)
  list.change(changes, stored, { ...stored.record, ...facts })
  await changes.commit()
}

describe('fan-out of events', () => {
  let one: PopulatedClinic
  beforeAll(async () => {
    one = await createPopulatedClinic(db.table)
  })

  it('has a created event for each new record', async () => {
    const { appointment, invoice, payment, patient, message } = one
    const events = await eventsOf(one.clinic.id)
    expect(events.map(({ event, record, sequence, data }) => [event, record, sequence, data.id])).toEqual([
      ['patient.created', patient.id, 1, patient.id],
      ['appointment.created', appointment.id, 1, appointment.id],
      ['invoice.created', invoice.id, 1, invoice.id],
      ['payment.created', payment.id, 1, payment.id],
      ['email.delivered', message.id, 1, message.id],
    ])
  })

  it('numbers events by record and has none for a change without effect', async () => {
    const { clinic, appointment, invoice, patient } = one
    const before = (await eventsOf(clinic.id)).length
    const appointments = appointmentStore(db)
    await changed(clinic.id, appointments, appointment.id, { notes: 'first time' })
    await changed(clinic.id, appointments, appointment.id, {})
    await changed(clinic.id, appointments, appointment.id, { status: 'cancelled' } as Partial<Appointment>)
    await changed(clinic.id, invoiceStore(db), invoice.id, { dueDate: '2026-06-01' })
    await changed(clinic.id, invoiceStore(db), invoice.id, { status: 'paid', paid: 10_010 })
    await patientChanges(db.table).update(clinic.id, patient.id, { gender: 'female' })
    await patientChanges(db.table).update(clinic.id, patient.id, { gender: 'female' })
    const events = (await eventsOf(clinic.id)).slice(before)
    expect(events.map(({ event, record, sequence }) => [event, record, sequence])).toEqual([
      ['appointment.updated', appointment.id, 2],
      ['appointment.cancelled', appointment.id, 3],
      ['invoice.updated', invoice.id, 2],
      ['invoice.paid', invoice.id, 3],
      ['patient.updated', patient.id, 2],
    ])
  })
})

it('creates no events for imported records', async () => {
  const clinic = await newClinic(db.table)
  const quiet = withoutEvents(db.table)
  const patient = aPatient()
  await patientWriter({ table: quiet }).createMany(clinic.id, [patient])
  const message = await createAcceptedEmail(quiet, clinic, patient, Date.now(), { dispatch: null })
  expect(await eventsOf(clinic.id)).toEqual([])
  // Later changes make events, numbered from 1.
  await changed(clinic.id, messageStore(db), message.id, { status: 'sent' } as Partial<Message>)
  expect(await eventsOf(clinic.id)).toMatchObject([{ event: 'email.sent', sequence: 1 }])
})

it('retains an event for 30 days from its fan-out, however long its clinic was paused', async () => {
  const clinic = await newClinic(db.table)
  await patientWriter(db).createMany(clinic.id, [aPatient()])
  const later = { ...platform(), now: () => Date.now() + 31 * 24 * 3_600_000 }
  await eventFanOut(later).fanOut(clinic.id, async () => {})
  expect((await eventStore(later).page(clinic.id, { limit: 10 }))?.items).toHaveLength(1)
})

it('creates and pushes one delivery for each subscribed webhook despite concurrent fan-outs', async () => {
  const clinic = await newClinic(db.table)
  const all = await createWebhook(db.table, clinic.id)
  const some = await createWebhook(db.table, clinic.id, { events: ['patient.updated'] })
  const off = await createWebhook(db.table, clinic.id, { isActive: false })
  await patientWriter(db).createMany(clinic.id, [aPatient(), aPatient()])
  const pushed: unknown[] = []
  const push = async (made: unknown[]) => void pushed.push(...made)
  await Promise.all([1, 2, 3].map(() => fanOut(clinic.id, push)))
  expect(pushed.length).toBe(2)
  const pages = await Promise.all(
    [all, some, off].map(({ id }) => deliveryStore(db).page(clinic.id, id, { limit: 10 }, Date.now())),
  )
  expect(pages.map((page) => page?.items.length)).toEqual([2, 0, 0])
  const [delivery] = pages[0]?.items ?? []
  expect(JSON.parse(delivery?.body ?? '')).toEqual({
    id: delivery?.eventId,
    event: 'patient.created',
    clinic_id: clinic.id,
    created_at: expect.stringMatching(/\+03:00$/),
    sequence: 1,
    source: 'system',
    request_id: null,
    data: { id: delivery?.record },
  })
})

it('numbers each event once, in record order, and cursors skip none, under concurrent writes and fan-outs', async () => {
  const clinic = await newClinic(db.table)
  await createWebhook(db.table, clinic.id)
  const patients = Array.from({ length: 5 }, () => aPatient())
  const made: { delivery: string }[] = []
  const push = async (more: unknown[]) => void made.push(...(more as { delivery: string }[]))
  let writing = true
  const read: string[] = []
  const reader = (async () => {
    let after: string | undefined
    for (let idle = 0; writing || idle < 3; ) {
      const page = await eventStore(platform()).page(clinic.id, { after, limit: 7 })
      read.push(...(page?.items ?? []).map(({ id }) => id))
      after = page?.nextAfter ?? undefined
      idle = page?.items.length === 0 ? idle + 1 : 0
    }
  })()
  const fanning = [1, 2].map(async () => {
    while (writing) await fanOut(clinic.id, push)
  })
  await Promise.all(
    patients.map(async (patient) => {
      await retryOnConflict(() => patientWriter(db).createMany(clinic.id, [patient]))
      for (const gender of ['male', 'female', 'other'] as const)
        await patientChanges(db.table).update(clinic.id, patient.id, { gender })
    }),
  )
  await fanOut(clinic.id, push)
  writing = false
  await Promise.all([reader, ...fanning])
  const { items } = (await eventStore(platform()).page(clinic.id, { limit: 100 })) ?? { items: [] }
  expect(items.length).toBe(20)
  expect(new Set(items.map(({ id }) => id)).size).toBe(20)
  for (const patient of patients) {
    const own = items.filter(({ record }) => record === patient.id)
    expect(own.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
  }
  expect(read).toEqual(items.map(({ id }) => id))
  expect(new Set(made.map(({ delivery }) => delivery)).size).toBe(20)
  expect(made.length).toBe(20)
})

it('handles more webhooks and events than one transaction can hold', async () => {
  const clinic = await newClinic(db.table)
  for (let n = 0; n < 20; n++) await createWebhook(db.table, clinic.id)
  for (const length of [15, 15, 15])
    await patientWriter(db).createMany(
      clinic.id,
      Array.from({ length }, () => aPatient()),
    )
  let pushed = 0
  const turn = () =>
    fanOut(clinic.id, async (made) => {
      pushed += made.length
    })
  await turn()
  // A transaction holds two events with twenty deliveries each, and there are twenty transactions at a time.
  expect(pushed).toBe(800)
  const announced: number[] = []
  const search = { partitions: [announcedPartition(clinic.id)], onRead: (at: number) => announced.push(at) }
  expect(await eventFanOut(platform()).clinicsWithAnnounced(search)).toContain(clinic.id)
  expect(Math.max(...announced.map((at) => Date.now() - at))).toBeLessThan(60_000)
  const others = ALL_ANNOUNCED_PARTITIONS.filter((pk) => !search.partitions.includes(pk))
  expect(await eventFanOut(platform()).clinicsWithAnnounced({ partitions: others })).not.toContain(clinic.id)
  await turn()
  expect(pushed).toBe(900)
  expect(await eventFanOut(platform()).clinicsWithAnnounced()).not.toContain(clinic.id)
  const all = await webhookStore(db).list(clinic.id)
  for (const { id } of all)
    expect((await deliveryStore(db).page(clinic.id, id, { limit: 100 }, Date.now()))?.items.length).toBe(45)
})

it('finds every clinic that waits, behind the events of others in the same partition too', async () => {
  const clinicOf = (n: number) => `6d0e2a7c-0000-4000-8000-00000000${n}000` as ClinicId
  const counts = [250, 1, 100, 3]
  for (const [n, count] of counts.entries())
    for (const records of chunked(Array.from({ length: count }, newUuid), 50))
      await db.table.transact(
        records.map((record) => db.table.putWrite({ ...announcedKey(clinicOf(n), record, 1) })),
      )
  const found = await eventFanOut(platform()).clinicsWithAnnounced()
  expect(found.filter((clinic) => clinic.startsWith('6d0e2a7c-0000-4000'))).toEqual(
    [0, 1, 2, 3].map(clinicOf),
  )
})
