import { SendEmailCommand, type SendEmailCommandInput } from '@aws-sdk/client-sesv2'
import { PublishCommand } from '@aws-sdk/client-sns'
import { SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import type { Context } from 'aws-lambda'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { queueName, REFERENCE } from '../../../infra/settings/names.ts'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import { NEW_DOCTOR } from '../../../shared/domain/booking/doctor.ts'
import { MAX_HOLDS } from '../../../shared/domain/booking/hold.ts'
import { addDays } from '../../../shared/domain/clock.ts'
import type { LineItem } from '../../../shared/domain/money/invoice.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { DISABLE_AFTER_MS } from '../../../shared/domain/webhooks/webhook.ts'
import { HEALTHY } from '../../../shared/domain/webhooks/webhook-health.ts'
import { MIGRATIONS, type Migration } from '../../../shared/maintenance/migrate/migrations.ts'
import { beginRestorePause } from '../../../shared/maintenance/restore/restore-pause.ts'
import { maintenanceRuns, type Task } from '../../../shared/maintenance/walk/runs.ts'
import { listCursors } from '../../../shared/requests/record-list.ts'
import { type QueueId, WORKERS } from '../../../shared/runtime/workers.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { treatmentStore } from '../../../shared/store/catalogue.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { doctorStore, MAX_SAVED } from '../../../shared/store/doctors.ts'
import { deliveryStore } from '../../../shared/store/events/deliveries.ts'
import { eventFanOut } from '../../../shared/store/events/fan-out.ts'
import { encodeEvent } from '../../../shared/store/events/items.ts'
import { webhookHealthStore } from '../../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../../shared/store/events/webhooks.ts'
import { readImportIds } from '../../../shared/store/external-ids/derive.ts'
import { holdListKey } from '../../../shared/store/keys/calendar.ts'
import { announcedKey, eventHeadKey } from '../../../shared/store/keys/events.ts'
import { shortId } from '../../../shared/store/keys/key.ts'
import { dueMessageKey } from '../../../shared/store/keys/messages.ts'
import { nationalIdSecretKey, patientHeadKey } from '../../../shared/store/keys/patients.ts'
import { dueDeliveryKey } from '../../../shared/store/keys/webhooks.ts'
import { messageDispatch } from '../../../shared/store/messages/dispatch.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { MAX_CREATED, MAX_UPDATED, patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import { chunked } from '../../../shared/store/table/chunked.ts'
import { type Table, withoutEvents } from '../../../shared/store/table/table.ts'
import { issueCredential } from '../../support/credentials.ts'
import { createWebhook } from '../../support/deliveries.ts'
import { createAcceptedEmail } from '../../support/emails.ts'
import { call, lambdaContext, type RequestInput } from '../../support/event.ts'
import { handlerOf, request, stubFunctionEnvironment } from '../../support/functions.ts'
import { createAppointment, createPopulatedClinic, createRecord } from '../../support/records.ts'
import { restored } from '../../support/restored.ts'
import { createRouteSamples, newInvoice, type RouteSamples, requestsOf } from '../../support/route-samples.ts'
import { aPatient, freshTable, type TestTable } from '../../support/table.ts'
import { type ExactGrants, exactGrants, logicalIdOf } from './exact-grants.ts'
import { interruptRefreshes } from './interrupted-refreshes.ts'
import { ses, sns, sqs } from './recorded-calls.ts'
import { batch, feedback, queued, receiptsOf } from './worker-events.ts'

let headers: Record<string, string>
let mine: RouteSamples
/** Patients whom no request names. */
let others: string[]
let db: TestTable
let table: Table
let grants: ExactGrants

beforeAll(async () => {
  db = await freshTable()
  const fresh = db
  table = fresh.table
  const url = (queue: QueueId) => `http://127.0.0.1:1/000000000000/${queueName('dev', queue)}`
  stubFunctionEnvironment(fresh.name, {
    EMAIL_QUEUE_URL: url('emails'),
    DELIVERY_QUEUE_URL: url('deliveries'),
    SLOW_DELIVERY_QUEUE_URL: url('slow-deliveries'),
    MAINTENANCE_QUEUE_URL: url('maintenance'),
  })
  grants = exactGrants(fresh.name)
  mine = await createRouteSamples(table)
  // Records so long that list rows leave them out, so that lists have to read them.
  const notes = 'long '.repeat(200)
  await createRecord(table, mine.clinic, appointmentStore({ table }), {
    ...mine.appointment,
    id: newUuid(),
    notes,
  })
  const item = mine.invoice.lineItems[0] as LineItem
  await createRecord(table, mine.clinic, invoiceStore({ table }), {
    ...mine.invoice,
    id: newUuid(),
    lineItems: Array(10).fill(item),
  })
  await createRecord(table, mine.clinic, paymentStore({ table }), {
    ...mine.payment,
    id: newUuid(),
    description: notes.slice(0, 500),
  })
  // A change logged before the last snapshot, and so many patients created since that the next one takes a snapshot.
  const entry = patientWriter({ table: withoutEvents(table) })
  const { clinic, patient } = mine
  const [before] = (await patientStore({ table }).findMany(clinic.id, [patient.id])).values()
  if (before)
    await entry.update(clinic.id, [{ before, after: { ...before, emailAddress: 'other@example.com' } }])
  await entry.snapshot(clinic.id)
  const created = Array.from({ length: 520 }, () => aPatient())
  for (const chunk of chunked(created, MAX_CREATED)) await entry.createMany(clinic.id, chunk)
  others = created.map(({ id }) => id)
  // The first call of a process takes long, and a request that cannot be counted in time does not record its use.
  const warmUp = await issueCredential(table, clinic)
  const path = { id: patient.id }
  await request('get-patient', { path, headers: warmUp.headers })
})

beforeEach(async () => {
  // The first request of a credential in a minute also records its use.
  headers = (await issueCredential(table, mine.clinic)).headers
  for (const mock of [sns, sqs, ses]) mock.reset()
  // The reply to every second SMS is lost.
  let published = 0
  sns.on(PublishCommand).callsFake(async () => {
    if (published++ % 2 === 1) throw new Error('reset')
    return { MessageId: newUuid() }
  })
  sqs.on(SendMessageCommand).resolves({ MessageId: 'sqs-1' })
  sqs.on(SendMessageBatchCommand).resolves({})
  ses.on(SendEmailCommand).callsFake(async () => ({ MessageId: newUuid() }))
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const json = { 'content-type': 'application/json' }

/** Writers of the clinic's patients are waiting in the queue, which the next request joins. */
const contendPatients = async (): Promise<void> => {
  const counter = { UpdateExpression: 'SET w = :one', ExpressionAttributeValues: { ':one': 1 } }
  await table.update(patientHeadKey(mine.clinic.id), counter)
}

/** The next national id makes a new secret. */
const deleteNationalIdSecret = (): Promise<void> =>
  table.transact([table.deleteWrite(nationalIdSecretKey(mine.clinic.id))])

/** An upcoming appointment, which changes of the doctor's times count. */
const bookTomorrow = async () => {
  await createAppointment(table, mine, { date: addDays(new Date().toISOString().slice(0, 10), 2) })
}

/** So many changes that the next one takes a second snapshot of the search index, which deletes what the first contains. */
const prepareSnapshot = async () => {
  const writer = patientWriter({ table: withoutEvents(table) })
  await changePatients(64)
  await writer.snapshot(mine.clinic.id)
  await writer.createMany(mine.clinic.id, [aPatient()])
  await changePatients(63)
  await deleteNationalIdSecret()
}

/** Preparations before the requests. */
const preparations: Record<string, () => Promise<void>> = {
  // So many holds that those which have not ended are looked up.
  'create-hold': async () => {
    const [key = ''] = headers.Authorization?.replace('Developer ', '').split(':') ?? []
    const ended = Array.from({ length: MAX_HOLDS }, () => [shortId(newUuid()), Date.now()])
    await table.putMany([{ ...holdListKey(mine.clinic.id, key), ...Object.fromEntries(ended), v: 1 }])
  },
  'update-doctor': bookTomorrow,
  'create-time-off': bookTomorrow,
  'activate-patient': contendPatients,
  'deactivate-patient': contendPatients,
  'create-patient': deleteNationalIdSecret,
  // A sweep leaves the first SMS to a person before its provider replies. The reply to the second is lost.
  'send-message': async () => {
    let published = 0
    sns.on(PublishCommand).callsFake(async () => {
      if (published++ > 0) throw new Error('reset')
      await markUnresolved(
        (await messageStore({ table }).page(mine.clinic.id, {}, { page: 1, limit: 1 })).items,
      )
      return { MessageId: newUuid() }
    })
  },
  'update-patient': prepareSnapshot,
  // Namesakes of the samples are far apart in the list.
  'sync-records': async () => {
    const namesake = { ...aPatient(), firstName: 'Ayşe', lastName: 'Kaya' }
    const created = [namesake, aPatient(), aPatient(), aPatient(), aPatient()]
    await patientWriter({ table: withoutEvents(table) }).createMany(mine.clinic.id, created)
    await prepareSnapshot()
  },
  // Changed since the last snapshot, with a secret for the hashes of national ids; and one so old that the list of changes has it.
  'list-patients': async () => {
    await changePatients(1)
    await patientWriter({ table }).createMany(mine.clinic.id, [{ ...aPatient(), nationalId: 'z' }])
    const earlier = { ...table, now: () => Date.now() - 10 * 60_000 }
    await patientWriter({ table: earlier }).createMany(mine.clinic.id, [aPatient()])
  },
}

/** A treatment of so many doctors that they are read together, and their days by key. Returns its id. */
async function treatmentOfMany(): Promise<string> {
  const { clinic, treatment } = mine
  const doctors = doctorStore({ table })
  const [doctor] = await doctors.list(clinic.id)
  if (!doctor) throw new Error('the clinic has no doctor')
  const ids = Array.from({ length: 101 }, newUuid)
  for (const chunk of chunked(ids, MAX_SAVED)) {
    const added = chunk.map((id) => ({ before: null, after: { ...doctor, id, fullName: id } }))
    await doctors.save(clinic.id, added)
  }
  const after = { ...treatment, id: newUuid(), name: 'X-ray', code: null, doctorIds: ids }
  await treatmentStore({ table }).save(clinic.id, [{ before: null, after }])
  return after.id
}

/** Changes of records whose ids follow from the external ids that they get. */
async function linkedAgain(id: string) {
  const { clinic } = mine
  const derived = await readImportIds(table, clinic.id)
  const change = { headers: json, body: JSON.stringify({ external_id: 'derived' }) }
  if (id === 'update-patient') {
    const patient = { ...aPatient(), id: derived('patient', 'derived') }
    await patientWriter({ table }).createMany(clinic.id, [patient])
    return [{ method: 'PATCH', path: { id: patient.id }, ...change }]
  }
  if (id === 'update-doctor') {
    const [before] = await doctorStore({ table }).list(clinic.id)
    const doctor = { ...NEW_DOCTOR, fullName: before?.fullName ?? '', id: derived('doctor', 'derived') }
    await doctorStore({ table }).save(clinic.id, [{ before: null, after: doctor }])
    return [{ method: 'PATCH', path: { id: doctor.id }, ...change }]
  }
  if (id !== 'update-appointment') return []
  const appointment = { ...mine.appointment, date: '2029-01-01', id: derived('appointment', 'derived') }
  await createRecord(table, clinic, appointmentStore({ table }), appointment)
  return [{ method: 'PATCH', path: { id: appointment.id }, ...change }]
}

/** A draft with a failed payment that is so long that lists have to read it. Returns its id. */
async function draftWithLongPayment(): Promise<string> {
  const draft = await newInvoice(table, mine, { status: 'draft', clinicStatus: 'draft' })
  await createRecord(table, mine.clinic, paymentStore({ table }), {
    ...mine.payment,
    id: newUuid(),
    invoice: { id: draft.id, number: draft.number },
    status: 'failed',
    description: 'long '.repeat(100),
  })
  return draft.id
}

/** Changes other patients, without events. */
async function changePatients(count: number): Promise<void> {
  const clinic = mine.clinic.id
  const stored = await patientStore({ table }).findMany(clinic, others.slice(0, count))
  const changes = [...stored.values()].map((before) => ({
    before,
    after: { ...before, emailAddress: `${newUuid()}@example.com` },
  }))
  const writer = patientWriter({ table: withoutEvents(table) })
  for (const chunk of chunked(changes, MAX_UPDATED)) await writer.update(clinic, chunk)
}

it.each(ENDPOINTS.map((route) => [route.id, route] as const))(
  '%s has exactly the grants that it uses',
  async (id, route) => {
    await preparations[id]?.()
    const further: RequestInput[] = [
      ...(id === 'reopen-appointment' ? [{ method: 'POST', path: { id: await missedAppointment() } }] : []),
      ...(id === 'get-availability'
        ? [{ query: { treatment_id: await treatmentOfMany(), date: '2030-01-07' } }]
        : []),
      ...(await linkedAgain(id)),
      ...(/^(update|send|cancel)-invoice$/.test(id) ? [{ path: { id: await draftWithLongPayment() } }] : []),
      ...(id === 'list-events' ? [{ query: { after: await expiredCursor() } }] : []),
    ]
    await grants.expectExact(id, async () => {
      const requests = requestsOf(route, await mine.idsFor(route))
      for (const sent of [...requests, ...further]) {
        const { status } = await request(route.id, {
          ...sent,
          headers: { ...('headers' in sent && sent.headers), ...headers },
        })
        expect([200, 201, 202, 204, 409]).toContain(status)
      }
    })
  },
)

/** An appointment that the patient missed, and whose time another one takes: a request to reopen it looks for other times. */
async function missedAppointment(): Promise<string> {
  const id = newUuid()
  const missed = { ...mine.appointment, room: mine.room, status: 'no_show', id } as const
  await createRecord(table, mine.clinic, appointmentStore({ table }), missed)
  return id
}

/** The cursor of an event that was deleted: whether there was one is read from the number of events. Others were deleted before. */
async function expiredCursor(): Promise<string> {
  const { id: clinic } = mine.clinic
  const record = newUuid()
  const event = {
    id: newUuid(),
    event: 'patient.created',
    record,
    sequence: 1,
    data: { id: record },
  } as const
  await table.transact([
    table.putWrite({ ...eventHeadKey(clinic), n: 1_000_000, v: 1 }),
    table.putWrite(
      encodeEvent(clinic, 999_000, { ...event, createdAt: new Date().toISOString() }, Date.now()),
    ),
  ])
  return listCursors({ list: 'events', clinic, filters: {} }).encode('1000000')
}

/** Sends a message through the endpoint and returns its id. */
async function accepted(channel: 'sms' | 'email'): Promise<string> {
  const body = JSON.stringify({ channel, patient_id: mine.patient.id, message: 'See you at ten' })
  const sent = { method: 'POST', body, headers: { ...headers, ...json } }
  expect((await call(await handlerOf({ id: 'send-message' }), sent)).status).toBe(202)
  const { items } = await messageStore({ table }).page(mine.clinic.id, {}, { page: 1, limit: 1 })
  return items[0]?.id ?? ''
}

/** An email whose sender has claimed it for a second, and its id. */
async function claimed(): Promise<string> {
  const { clinic } = mine
  const id = await accepted('email')
  const dispatch = messageDispatch({ table })
  const read = await dispatch.find(clinic.id, id)
  if (!read) throw new Error('the email is not stored')
  await dispatch.claim(clinic.id, read, { token: 't', until: Date.now() + 1000 })
  return id
}

/** Leaves messages to a person, as a sweep does when their claim has ended. */
async function markUnresolved(messages: readonly { readonly id: string }[]): Promise<void> {
  for (const { id } of messages) await messageDispatch({ table }).markUnresolved(mine.clinic.id, id, 'lost')
}

const later = (ms: number) => vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] })

/** For each worker an event that makes it use every grant, and the result it must return. */
const starts: Record<string, () => Promise<[event: object, answer: unknown]>> = {
  // Two that SES accepts, one of them after a sweep has left it to a person; one that it rejects for now, and one whose reply is lost.
  'send-email': async () => {
    const bodies = []
    for (let n = 0; n < 4; n++) bodies.push(queued(mine.clinic.id, await accepted('email')))
    const paused = Object.assign(new Error('no'), {
      name: 'SendingPausedException',
      $metadata: { httpStatusCode: 400 },
    })
    const lost = new Error('reset')
    ses
      .on(SendEmailCommand)
      .callsFakeOnce(async ({ EmailTags }: SendEmailCommandInput) => {
        await markUnresolved([{ id: EmailTags?.find(({ Name }) => Name === 'message')?.Value ?? '' }])
        return { MessageId: 'ses-0' }
      })
      .resolvesOnce({ MessageId: 'ses-1' })
      .rejectsOnce(paused)
      .rejects(lost)
    return [batch(bodies), { batchItemFailures: [] }]
  },
  // The feedback of SES arrives before the id of the email is recorded, and for one whose reply was lost.
  'email-feedback': async () => {
    const unresolved = await claimed()
    await messageDispatch({ table }).markUnresolved(mine.clinic.id, unresolved, 'lost')
    const ids = [await accepted('email'), unresolved, newUuid()]
    const bodies = ids.map((id) => feedback(mine.clinic.id, 'Delivery', id))
    return [batch(bodies), { batchItemFailures: [] }]
  },
  'sms-receipts': async () => {
    sns.on(PublishCommand).resolves({ MessageId: 'sns-1' })
    await accepted('sms')
    return [receiptsOf(['sns-1']), undefined]
  },
  // One to queue again, one whose sender crashed, one that is too old to be sent, and a due item without a message.
  'sweep-messages': async () => {
    const { clinic } = mine
    later(-48 * 3_600_000)
    await accepted('email')
    vi.useRealTimers()
    await accepted('email')
    await claimed()
    await table.transact([
      table.putWrite(dueMessageKey({ clinic: clinic.id, id: newUuid(), at: Date.now() })),
    ])
    later(10 * 60_000)
    return [{}, undefined]
  },
  'refresh-copies': async () => {
    await interruptRefreshes({ ...table, now: () => Date.now() - 10 * 60_000 })
    return [{}, undefined]
  },
  // Two to addresses that are not public, one of whose endpoints is disabled, and one to a slow endpoint.
  'deliver-event': async () => {
    const { clinic } = mine
    const nowhere = await createWebhook(table, clinic.id, { url: 'https://localhost/' })
    const failing = await createWebhook(table, clinic.id, { url: 'https://localhost/' })
    const slow = await createWebhook(table, clinic.id, { url: 'https://localhost/' })
    const { record } = webhookHealthStore({ table })
    await record(clinic.id, slow.id, HEALTHY, { ...HEALTHY, isSlow: true })
    const failingSince = Date.now() - DISABLE_AFTER_MS
    await record(clinic.id, nowhere.id, HEALTHY, { isSlow: false, failingSince })
    await changed()
    const made = await fannedOut()
    const ids = [nowhere, failing, slow].map(({ id }) => id)
    const queued = made.filter(({ webhook }) => ids.includes(webhook))
    // The due item of a delivery is moved if its retry is later.
    for (const { webhook, delivery } of queued)
      await deliveryStore({ table }).change(clinic.id, webhook, delivery, (before) => ({
        ...before,
        dueAt: Date.now(),
      }))
    return [batch(queued), { batchItemFailures: [] }]
  },
  'sweep-events': async () => {
    await changed()
    return [{}, undefined]
  },
  // A delivery without an attempt, one that failed once, and a due item without a delivery.
  'sweep-deliveries': async () => {
    await changed()
    await fannedOut()
    const { clinic } = mine
    const ids = { clinic: clinic.id, webhook: newUuid(), id: newUuid() }
    await table.transact([table.putWrite(dueDeliveryKey({ ...ids, at: Date.now() }))])
    later(10 * 60_000)
    return [{}, undefined]
  },
  // These make hundreds of deliveries, which the others would process.
  'fan-out-events': async () => {
    const { clinic, patient } = mine
    await announceTransactions(4)
    const { pk, sk } = announcedKey(clinic.id, patient.id, 1)
    return [{ Records: [{ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }] }, undefined]
  },
  // A table is verified, migrated and reconciled with its source, in which an email was sent and a patient erased since.
  'run-maintenance': async () => {
    const { clinic, patient } = await createPopulatedClinic(table)
    const changed = await createPopulatedClinic(table)
    const copy = await restored(db)
    await createAcceptedEmail(table, changed.clinic, changed.patient, Date.now())
    await patientChanges(table).erase(clinic.id, patient.id, { operator: 'eva' })
    ;(MIGRATIONS as Migration[]).push({
      format: 1,
      summary: 'the heads of the lists of patients have another attribute, and departments another key',
      concerns: ({ pk }) => /#(PH|CD)$/.test(pk),
      migrate: (item) => (item.pk.endsWith('#PH') ? { ...item, z: 1 } : { ...item, sk: `${item.sk}-moved` }),
    })
    const tasks: Task[] = [
      { name: 'verify' },
      { name: 'migrate', deployedAt: '' },
      {
        name: 'reconcile',
        table: copy.name,
        restore: await beginRestorePause(table, copy.name, async () => {}),
        isSourceLost: false,
      },
    ]
    const messages = tasks.map(async (task) => ({
      run: (await maintenanceRuns(task.name === 'reconcile' ? copy.table : table).start(task)).id,
      task,
    }))
    return [batch(await Promise.all(messages)), { batchItemFailures: [] }]
  },
}

let changes = 0
/** Changes the patient, which announces an event. */
const changed = () =>
  patientChanges(table).update(mine.clinic.id, mine.patient.id, { emailAddress: `${changes++}@example.com` })

/** So many changes, each of which takes a transaction of the fan-out, since so many endpoints receive it. One of them is new. */
async function announceTransactions(count: number) {
  const { clinic } = mine
  await createWebhook(table, clinic.id, { url: 'https://localhost/' })
  for (let n = (await webhookStore({ table }).list(clinic.id)).length; n < 17; n++)
    await createWebhook(table, clinic.id, { url: 'https://localhost/' })
  for (let n = 0; n < count; n++) await changed()
}

async function fannedOut() {
  const all: { clinic: string; webhook: string; delivery: string }[] = []
  await eventFanOut({ table, now: Date.now, newId: newUuid }).fanOut(
    mine.clinic.id,
    async (made) => void all.push(...made),
  )
  return all
}

it('has an event for each worker', () => {
  expect(Object.keys(starts).sort()).toEqual(WORKERS.map(({ id }) => id).sort())
})

it.each(Object.entries(starts))('%s has exactly the grants that it uses', async (id, start) => {
  const [event, answer] = await start()
  const handler = (await handlerOf({ id })) as (event: object, context: Context) => Promise<unknown>
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const uses = WORKERS.find((worker) => worker.id === id)?.uses
  const act = async () => {
    // Without time, it hands its work on. The others take no account of the time.
    for (const remainingMs of uses?.wholeTables ? [0, 900_000] : [60_000])
      expect(await handler(event, lambdaContext(remainingMs))).toEqual(answer)
  }
  await grants.expectExact(id, act, uses)
  write.mockRestore()
})

it('grants calls on every partition to no function but the worker of maintenance', () => {
  expect(WORKERS.filter(({ uses }) => uses?.wholeTables).map(({ id }) => id)).toEqual(['run-maintenance'])
})

it('the function of the public pages has exactly the grants that it uses: it makes no calls', () =>
  grants.expectExact(REFERENCE, async () => {}))

it('docs/grants.json has the calls that functions make, which --update writes for the next run to check', async () => {
  const ids = [...ENDPOINTS, ...WORKERS].map(({ id }) => id)
  expect(ids.filter((id) => !grants.tableCalls.has(id))).toEqual([])
  const calls = Object.fromEntries(ids.map((id) => [id, grants.tableCalls.get(id)]))
  await expect(`${JSON.stringify(calls, null, 2)}\n`).toMatchFileSnapshot('../../../docs/grants.json')
})

it('covers every function of the stack', () => {
  const ids = [...ENDPOINTS, ...WORKERS].map(({ id }) => id)
  expect(grants.functionIds).toEqual([...ids, REFERENCE].map(logicalIdOf).sort())
})
