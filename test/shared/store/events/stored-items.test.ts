/** The stored format of deliveries, webhooks and events: items of earlier versions stay readable. */
import { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { HEALTHY } from '../../../../shared/domain/webhooks/webhook-health.ts'
import { deliveryStore } from '../../../../shared/store/events/deliveries.ts'
import { eventStore } from '../../../../shared/store/events/events.ts'
import { eventFanOut } from '../../../../shared/store/events/fan-out.ts'
import { webhookHealthStore } from '../../../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../../../shared/store/events/webhooks.ts'
import { eventKey } from '../../../../shared/store/keys/events.ts'
import type { Key } from '../../../../shared/store/keys/key.ts'
import {
  deliveriesPartition,
  deliveryKey,
  webhookHealthKey,
  webhookKey,
} from '../../../../shared/store/keys/webhooks.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { aPatient, freshSdkTable, newClinic, tableOfFile } from '../../../support/table.ts'

const NOW = Date.parse('2026-05-01T07:00:00Z')
const NOW_SECONDS = NOW / 1000
const RETENTION_SECONDS = 30 * 24 * 60 * 60

const db = tableOfFile(freshSdkTable)
let clinic: Clinic

beforeEach(async () => {
  clinic = await newClinic(db.table)
})

const getItem = async (key: Key) =>
  (await db.client.send(new GetCommand({ TableName: db.name, Key: key }))).Item
const putItem = (item: Key & Record<string, unknown>) =>
  db.client.send(new PutCommand({ TableName: db.name, Item: item }))

/** Creates a patient, and the delivery of its event to the webhook. */
async function fanOutOne(): Promise<Record<string, unknown>> {
  const webhook = await createWebhook(db.table, clinic.id)
  await patientWriter(db).createMany(clinic.id, [aPatient()])
  await eventFanOut({ table: db.table, now: () => NOW, newId: newUuid }).fanOut(clinic.id, async () => {})
  const { Items = [] } = await db.client.send(
    new QueryCommand({
      TableName: db.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': deliveriesPartition(clinic.id, webhook.id) },
    }),
  )
  return Items[0] ?? {}
}

describe('a stored delivery', () => {
  const id = '6d0e2a7c-0000-4000-8000-000000000001'
  const webhook = '6d0e2a7c-0000-4000-8000-000000000002'
  const stored = {
    eventId: 'evt_6d0e2a7c-0000-4000-8000-000000000003',
    event: 'patient.created',
    record: '6d0e2a7c-0000-4000-8000-000000000004',
    sequence: 2,
    body: '{}',
    status: 'pending',
    attempts: [{ at: '2026-05-01T07:00:00.000Z', status: null, error: 'timeout', latencyMs: 15_000 }],
    tries: 1,
    nextAt: NOW + 5000,
    dueAt: NOW + 125_000,
    claim: { token: 'token', until: NOW + 40_000 },
    isAskedFor: true,
    createdAt: NOW,
    v: 3,
    // From its next attempt, since it is after its creation.
    ttl: NOW_SECONDS + 5 + RETENTION_SECONDS,
  }

  it('has these attributes when it is new', async () => {
    const { pk: _, sk: __, ...item } = await fanOutOne()
    expect(item).toEqual({
      eventId: expect.stringMatching(/^evt_/),
      event: 'patient.created',
      record: expect.any(String),
      sequence: 1,
      body: expect.stringContaining('"event":"patient.created"'),
      status: 'pending',
      attempts: [],
      tries: 0,
      nextAt: NOW,
      dueAt: NOW + 2 * 60_000,
      claim: null,
      isAskedFor: false,
      createdAt: NOW,
      v: 1,
      ttl: NOW_SECONDS + RETENTION_SECONDS,
    })
  })

  it('is read with every attribute', async () => {
    await putItem({ ...deliveryKey(clinic.id, webhook, id), ...stored })
    const { v: _, ttl: __, tries, isAskedFor, ...rest } = stored
    expect(await deliveryStore(db).find(clinic.id, webhook, id)).toEqual({
      ...rest,
      id,
      webhook,
      failedAttempts: tries,
      isManual: isAskedFor,
    })
  })

  it('keeps every attribute when it is written again', async () => {
    const key = deliveryKey(clinic.id, webhook, id)
    await putItem({ ...key, ...stored })
    await deliveryStore(db).change(clinic.id, webhook, id, (before) => ({ ...before, claim: null }))
    expect(await getItem(key)).toEqual({ ...key, ...stored, claim: null, v: 4 })
  })

  it.each(Object.keys(stored).filter((name) => name !== 'ttl'))('is rejected without `%s`', async (name) => {
    await putItem({ ...deliveryKey(clinic.id, webhook, id), ...stored, [name]: undefined })
    await expect(
      deliveryStore(db).change(clinic.id, webhook, id, (before) => ({ ...before, claim: null })),
    ).rejects.toThrow()
  })
})

describe('a stored webhook', () => {
  const id = '6d0e2a7c-0000-4000-8000-000000000005'
  const stored = {
    url: 'https://example.com/webhooks',
    events: ['patient.created', 'invoice.paid'],
    isActive: false,
    description: 'Reminders',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    secretNumber: 4,
    previousSecrets: [{ secret: 'the-previous-secret', until: '2026-05-02T07:00:00.000Z' }],
    createdBy: 'ck_creator',
    createdAt: '2026-05-01T07:00:00.000Z',
    updatedAt: '2026-05-01T08:00:00.000Z',
    v: 2,
  }

  it('is read and written again with every attribute', async () => {
    const key = webhookKey(clinic.id, id)
    await putItem({ ...key, ...stored })
    const { v: _, ...webhook } = stored
    expect(await webhookStore(db).find(clinic.id, id)).toEqual({ ...webhook, id })
    await webhookStore(db).change(clinic.id, id, (before) => ({ ...before, isActive: true }))
    expect(await getItem(key)).toEqual({ ...key, ...stored, isActive: true, v: 3 })
  })

  it('is rejected without a secret', async () => {
    await putItem({ ...webhookKey(clinic.id, id), ...stored, secret: undefined })
    await expect(webhookStore(db).find(clinic.id, id)).rejects.toThrow()
  })

  it('has its health in an item of its own, with what differs from a healthy one', async () => {
    const { id } = await createWebhook(db.table, clinic.id)
    const key = webhookHealthKey(clinic.id, id)
    const { record } = webhookHealthStore(db)
    expect(await getItem(key)).toEqual(key)
    const failing = { isSlow: true, failingSince: NOW }
    await record(clinic.id, id, HEALTHY, failing)
    expect(await getItem(key)).toEqual({ ...key, isSlow: true, failingSince: NOW })
    await record(clinic.id, id, failing, HEALTHY)
    expect(await getItem(key)).toEqual({ ...key, isSlow: false })
  })
})

describe('a stored event', () => {
  const stored = {
    i: '6d0e2a7c-0000-4000-8000-000000000006',
    e: 'patient.updated',
    r: '6d0e2a7c-0000-4000-8000-000000000007',
    q: 4,
    d: {
      id: '6d0e2a7c-0000-4000-8000-000000000007',
      treatment_ids: ['6d0e2a7c-0000-4000-8000-000000000008'],
    },
    c: NOW,
    ttl: NOW_SECONDS + RETENTION_SECONDS,
  }
  const page = () => eventStore({ table: db.table, now: () => NOW }).page(clinic.id, { limit: 10 })

  it('has these attributes', async () => {
    await fanOutOne()
    expect(await getItem(eventKey(clinic.id, 1))).toEqual({
      ...eventKey(clinic.id, 1),
      i: expect.any(String),
      e: 'patient.created',
      r: expect.any(String),
      q: 1,
      d: { id: expect.any(String) },
      c: expect.any(Number),
      s: 'system',
      ttl: expect.any(Number),
    })
  })

  it('is read with every attribute', async () => {
    await putItem({ ...eventKey(clinic.id, 1), ...stored, s: 'api', rq: 'request-1' })
    expect((await page())?.items).toEqual([
      {
        id: stored.i,
        event: stored.e,
        record: stored.r,
        sequence: 4,
        data: stored.d,
        createdAt: '2026-05-01T07:00:00.000Z',
        source: 'api',
        requestId: 'request-1',
      },
    ])
  })

  it('is read with any data, and not listed when this version does not know it', async () => {
    const d = { ...stored.d, is_new: true, clinics: { old: [1] } }
    await putItem({ ...eventKey(clinic.id, 1), ...stored, e: 'patient.merged', d })
    await putItem({ ...eventKey(clinic.id, 2), ...stored, d })
    expect((await page())?.items).toMatchObject([{ event: 'patient.updated', data: d }])
  })

  it.each(['i', 'e', 'r', 'q', 'd', 'c'])('is rejected without `%s`', async (name) => {
    await putItem({ ...eventKey(clinic.id, 1), ...stored, [name]: undefined })
    await expect(page()).rejects.toThrow()
  })
})
