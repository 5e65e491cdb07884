/** The list endpoints with the AWS client mocked. */

import { QueryCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, it } from 'vitest'
import { shortId } from '../../shared/store/keys/key.ts'
import { request } from '../support/functions.ts'
import { CLINIC, headers, mockClientWithCredential } from '../support/mocked-credential.ts'

const dynamodb = mockClientWithCredential('Asia/Tokyo', 'JPY')
const ID = '6d0e2a7c-0000-4000-8000-000000000002'
const PATIENT = '6d0e2a7c-0000-4000-8000-000000000003'
const CREATED = Date.parse('2026-05-01T07:00:00Z')
const NOW = '2026-05-01T07:00:00.000Z'
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

it('rejects a limit whose page of doctors would be larger than a response of a function', async () => {
  const hours = Array.from({ length: 100 }, () => ({ start: '09:00', end: '09:01' }))
  const exceptions = Object.fromEntries(Array.from({ length: 41 }, (_, n) => [`20${n + 30}-01-01`, hours]))
  const times = { hours: { mon: hours }, breaks: {}, exceptions, timeOff: [] }
  const doctor = { fullName: 'Dr. Bo', specialty: null, isActive: true, ...times, updatedAt: NOW, v: 1 }
  query(
    'DR',
    Array.from({ length: 40 }, () => ({ sk: ID, ...doctor })),
  )
  const list = (limit: string) => request('list-doctors', { query: { limit }, headers })
  expect((await list('20')).status).toBe(200)
  const { status, body } = await list('100')
  const issue = 'must be smaller: the page would be larger than 6 MB'
  expect([status, body.details]).toEqual([400, [{ field: 'limit', issue }]])
})

it('reads no row for a filter that no tally counts if its range has over 5,000, for any page', async () => {
  const range = { room_id: ID, date_from: '2026-05-01', date_to: '2026-05-31', limit: '1' }
  const read = async (cursor = {}) =>
    request('list-appointments', { query: { ...range, ...cursor }, headers })
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
  const response = await request('list-appointments', { headers })
  expect(response).toMatchObject({ status: 200, body: { data: [], meta: { total: 2 } } })
  // Four times the tallies, and rows that are fewer than they promise; then the list is read from its beginning.
  expect(dynamodb.commandCalls(QueryCommand).length).toBe(11)
  expect(response.logged.split('"list_drift":1').length - 1).toBe(4)
})
