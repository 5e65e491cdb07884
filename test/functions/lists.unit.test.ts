/** The list endpoints with the AWS client mocked. */

import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, it } from 'vitest'
import { shortId } from '../../shared/store/keys/key.ts'
import { call } from '../support/event.ts'
import { handlerOf } from '../support/functions.ts'
import { CLINIC, headers, mockClientWithCredential } from '../support/mocked-credential.ts'

const dynamodb = mockClientWithCredential('Asia/Tokyo', 'JPY')
const ID = '6d0e2a7c-0000-4000-8000-000000000002'
const PATIENT = '6d0e2a7c-0000-4000-8000-000000000003'
const CREATED = Date.parse('2026-05-01T07:00:00Z')
const pk = (family: string) => `${shortId(CLINIC)}#${family}`
const query = (partition: string, items: object[]) =>
  dynamodb
    .on(QueryCommand, { ExpressionAttributeValues: { ':pk': pk(partition) } }, false)
    .resolves({ Items: items as never })

const APPOINTMENT_ROW = {
  p: PATIENT,
  pn: 'Ada Kaya',
  d: PATIENT,
  dn: 'Dr. Bo',
  on: '2026-05-04',
  b: '09:00',
  e: '09:30',
  s: 'c',
  n: null,
  c: CREATED,
  u: CREATED + 1000,
}

beforeEach(() => {
  dynamodb.on(QueryCommand).resolves({ Items: [] })
})

it('GET /appointments reads the tallies, then only the rows of the page, then the tallies again', async () => {
  query('AT', [{ pk: pk('AT'), sk: '2026-05', '4c': 2, '4x': 1, v: 3 }])
  query('AL', [{ pk: pk('AL'), sk: `c#2026-05-04#09:00#${shortId(ID)}`, ...APPOINTMENT_ROW }])
  const response = await call(await handlerOf({ id: 'list-appointments' }), {
    query: { limit: '1', status: 'completed' },
    headers,
  })
  expect(response.body).toEqual({
    data: [
      {
        id: ID,
        patient: { id: PATIENT, full_name: 'Ada Kaya' },
        doctor: { id: PATIENT, full_name: 'Dr. Bo' },
        appointment_date: '2026-05-04',
        start_time: '09:00',
        end_time: '09:30',
        status: 'completed',
        notes: null,
        treatments: [],
        room: null,
        confirmed_at: null,
        checked_in_at: null,
        cancelled_at: null,
        cancellation_reason: null,
        external_id: null,
        created_at: '2026-05-01T16:00:00+09:00',
        updated_at: '2026-05-01T16:00:01+09:00',
      },
    ],
    meta: { page: 1, limit: 1, total: 2, total_pages: 2, next_after: expect.any(String) },
  })
  const ranges = dynamodb.commandCalls(QueryCommand).map(({ args }) => args[0].input)
  expect(ranges.map(({ ExpressionAttributeValues }) => ExpressionAttributeValues?.[':pk'])).toEqual([
    pk('AT'),
    pk('AL'),
    pk('AT'),
  ])
  expect(ranges[1]).toMatchObject({ Limit: 1, ConsistentRead: true, ScanIndexForward: false })
})

it('reads no row for a filter that no tally counts if its range has over 5,000, for any page', async () => {
  const range = { room_id: ID, date_from: '2026-05-01', date_to: '2026-05-31', limit: '1' }
  const read = async (cursor = {}) =>
    call(await handlerOf({ id: 'list-appointments' }), { query: { ...range, ...cursor }, headers })
  const tally = { pk: pk('AT'), sk: '2026-05', '4c': 2, v: 1 }
  query('AT', [tally])
  const rows = ['09:00', '10:00'].map((time) => ({
    pk: pk('AL'),
    sk: `c#2026-05-04#${time}#${shortId(ID)}`,
    ...APPOINTMENT_ROW,
    rm: { i: ID, n: 'Room 1' },
  }))
  query('AL', rows)
  const { next_after: after } = (await read()).body.meta
  Object.assign(tally, { '4c': 5000, '3x': 1 })
  dynamodb.resetHistory()
  for (const { status, body } of [await read(), await read({ after })])
    expect([status, body.message]).toEqual([400, 'errors.developer_api.range_required'])
  expect(dynamodb.commandCalls(QueryCommand)).toHaveLength(2)
})

it('reads a page that concurrent writes keep changing four times, and counts a metric', async () => {
  query('AT', [{ pk: pk('AT'), sk: '2026-05', '4c': 2, v: 3 }])
  const response = await call(await handlerOf({ id: 'list-appointments' }), { headers })
  expect(response).toMatchObject({ status: 200, body: { data: [], meta: { total: 2 } } })
  // Four times the tallies, and rows that are fewer than they promise; then the list is read from its beginning.
  expect(dynamodb.commandCalls(QueryCommand).length).toBe(11)
  expect(response.logged.split('"list_drift":1').length - 1).toBe(4)
})

it('GET /invoices returns yen without decimals, and reads records whose rows have no details', async () => {
  query('IT', [{ pk: pk('IT'), sk: '2026-05', '4p': 1, v: 1 }])
  query('IL', [{ pk: pk('IL'), sk: `p#2026-05-04##${shortId(ID)}`, t: 1 }])
  const stored = {
    no: '7',
    s: 'p',
    set: 's',
    on: '2026-05-04',
    due: null,
    at: CREATED,
    cur: 'JPY',
    sub: 1000,
    tax: 100,
    dis: 0,
    tot: 1100,
    paid: 1100,
    p: PATIENT,
    pn: 'Ada Kaya',
    pe: null,
    li: [],
    c: CREATED,
  }
  dynamodb
    .on(BatchGetCommand)
    .resolves({ Responses: { 'clinic-table': [{ pk: pk('I'), sk: ID, v: 1, ...stored }] } })
  const response = await call(await handlerOf({ id: 'list-invoices' }), { headers })
  expect(response.body.data).toMatchObject([
    {
      status: 'paid',
      total_amount: 1100,
      paid_amount: 1100,
      balance_due: 0,
      paid_at: '2026-05-01T16:00:00+09:00',
      due_date: null,
    },
  ])
})

it('GET /invoices/{id} returns 404 for an unknown invoice', async () => {
  dynamodb.on(GetCommand, { Key: { pk: pk('I'), sk: ID } }).resolves({})
  expect(await call(await handlerOf({ id: 'get-invoice' }), { path: { id: ID }, headers })).toMatchObject({
    status: 404,
    body: { message: 'errors.developer_api.invoice_not_found' },
  })
})

it('GET /payments filtered by invoice makes one query', async () => {
  const row = {
    i: ID,
    no: '7',
    p: PATIENT,
    pn: 'Ada Kaya',
    a: 500,
    cur: 'JPY',
    ty: 'payment',
    me: 'card',
    s: 'c',
    de: null,
    on: '2026-05-04',
    c: CREATED,
  }
  query(`YI#${shortId(ID)}`, [
    { pk: pk(`YI#${shortId(ID)}`), sk: `2026-05-04#063`.concat(`#${shortId(ID)}`), ...row },
  ])
  const response = await call(await handlerOf({ id: 'list-payments' }), {
    query: { invoice_id: ID },
    headers,
  })
  expect(response.body).toMatchObject({
    data: [{ id: ID, invoice_id: ID, amount: 500, payment_method: 'card', status: 'completed' }],
    meta: { total: 1 },
  })
  expect(dynamodb.commandCalls(QueryCommand).length).toBe(1)
})

it('GET /messages filtered by patient returns the stored message', async () => {
  const row = {
    ch: 'sms',
    ty: 'reminder',
    to: '+819012345678',
    su: null,
    tx: 'See you',
    s: 'failed',
    pm: null,
    er: 'no route',
    at: null,
    p: PATIENT,
    pn: 'Ada Kaya',
    on: '2026-05-01',
    c: CREATED,
  }
  query(`MP#${shortId(PATIENT)}`, [{ pk: 'x', sk: `2026-05-01#063#${shortId(ID)}`, ...row }])
  const response = await call(await handlerOf({ id: 'list-messages' }), {
    query: { patient_id: PATIENT, channel: 'sms' },
    headers,
  })
  expect(response.body.data).toEqual([
    {
      id: ID,
      channel: 'sms',
      type: 'reminder',
      recipient: '+819012345678',
      subject: null,
      message: 'See you',
      status: 'failed',
      provider: 'sns',
      provider_message_id: null,
      error_message: 'no route',
      sent_at: null,
      patient: { id: PATIENT, full_name: 'Ada Kaya' },
      created_at: '2026-05-01T16:00:00+09:00',
      updated_at: '2026-05-01T16:00:00+09:00',
    },
  ])
})
