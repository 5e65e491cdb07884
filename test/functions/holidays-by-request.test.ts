/** Holidays that requests add and delete. */
import { beforeEach, expect, it } from 'vitest'
import { MAX_HOLIDAYS } from '../../shared/domain/booking/doctor.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { readImportIds } from '../../shared/store/external-ids/derive.ts'
import { holidayStore } from '../../shared/store/holidays.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { importRows } from '../support/imports.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const db = tableOfFunctions()
let mine: PopulatedClinic
let headers: Record<string, string>

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
  headers = (await issueCredential(db.table, mine.clinic)).headers
})

const add = (body: object) =>
  request('create-holiday', {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const remove = (id: string) => request('delete-holiday', { path: { id }, headers })
const list = async () => (await request('list-holidays', { headers })).body.data
const copies = async () => (await doctorStore(db).find(mine.clinic.id, mine.doctor.id))?.holidays ?? []

it('a holiday closes the days for every doctor until it is deleted, and is there once', async () => {
  const sent = { from: '2030-04-22', to: '2030-04-23', name: 'Spring' }
  const created = await add(sent)
  const { id } = created.body.data
  expect([created.status, created.body.data]).toEqual([201, { id, ...sent }])
  const again = await add({ ...sent, name: 'Other' })
  expect([again.status, again.body.data]).toEqual([200, created.body.data])
  const query = { doctor_id: mine.doctor.id, date: '2030-04-23' }
  const slots = async () => (await request('get-availability', { query, headers })).body.data.length
  expect([await list(), await slots()]).toEqual([[created.body.data], 0])
  expect([(await remove(id)).status, (await remove(id)).body.message]).toEqual([
    204,
    'errors.developer_api.holiday_not_found',
  ])
  expect([await list(), await copies(), (await slots()) > 0]).toEqual([[], [], true])
})

it('a holiday with an external id is the one that an import creates with it', async () => {
  const sent = { from: '2030-10-29', external_id: 'H-1' }
  const { body } = await add(sent)
  const derived = (await readImportIds(db.table, mine.clinic.id))('holiday', 'H-1')
  expect(body.data.id).toBe(derived)
  const row = { external_id: 'H-1', from: sent.from, to: sent.from, name: 'Republic Day' }
  const imported = await importRows(temporaryFolder(), db.table, mine.clinic, 'holidays', [row])
  expect(imported).toMatchObject({ updated: 1, rejected: 0 })
  expect(await list()).toEqual([{ ...body.data, id: derived, name: 'Republic Day' }])
  const taken = await add({ from: '2030-11-01', external_id: 'H-1' })
  expect([taken.status, taken.body.details]).toEqual([409, [{ field: 'external_id', id: derived }]])
  const other = await add({ from: sent.from, external_id: 'H-2' })
  expect([other.status, other.body.details]).toEqual([
    422,
    [{ field: 'from', issue: 'is the first day of another holiday of the same days' }],
  ])
})

it('a holiday that an operator added gets the external id of a request for the same days', async () => {
  const day = { from: '2030-05-01', to: '2030-05-01', reason: 'May Day' }
  await holidayStore(db).set(mine.clinic.id, () => [day])
  const { status, body } = await add({ from: day.from, external_id: 'H-3' })
  expect([status, await list()]).toEqual([201, [body.data]])
  expect(body.data.name).toBe('May Day')
})

it('a holiday that was removed gives up its days and external id to others', async () => {
  const from = '2030-08-30'
  const first = await add({ from, external_id: 'H-4' })
  await remove(first.body.data.id)
  const second = await add({ from, external_id: 'H-5' })
  expect(await list()).toEqual([second.body.data])
  await remove(second.body.data.id)
  const third = await add({ from })
  expect(await list()).toEqual([third.body.data])
  expect((await add({ from: '2030-08-31', external_id: 'H-5' })).body.data.id).toBe(second.body.data.id)
})

it('without the scope that reads holidays, the response has no name but the one that was sent', async () => {
  const from = '2030-03-08'
  const { body } = await add({ from, name: 'Stored' })
  headers = (await issueCredential(db.table, mine.clinic, ['schedule.write'])).headers
  const again = await add({ from })
  expect([again.status, again.body.data]).toEqual([200, { ...body.data, name: null }])
})

it('a holiday beyond the limit is rejected', async () => {
  const days = Array.from({ length: MAX_HOLIDAYS }, (_, n) => addDays('2030-01-01', n))
  await holidayStore(db).set(mine.clinic.id, () => days.map((from) => ({ from, to: from, reason: null })))
  const { status, body } = await add({ from: '2031-01-01' })
  expect([status, body.details[0].field, body.details[0].issue]).toEqual([
    422,
    'from',
    expect.stringContaining('200 holidays'),
  ])
})
