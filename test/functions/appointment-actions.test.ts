/** The actions on an appointment: what they change, free and announce, and what they reject. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Appointment } from '../../shared/domain/booking/appointment.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { verifyClinic } from '../../shared/maintenance/verify/verify-clinic.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { announcedEvents } from '../support/all-items.ts'
import { issueCredential } from '../support/credentials.ts'
import { call } from '../support/event.ts'
import { handlerOf, request, tableOfFunctions } from '../support/functions.ts'
import { createPopulatedClinic, createRecord, type PopulatedClinic } from '../support/records.ts'
import { tableText } from '../support/table-text.ts'

const db = tableOfFunctions()
let mine: PopulatedClinic
let headers: Record<string, string>
let id: string

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
  headers = (await issueCredential(db.table, mine.clinic)).headers
  id = mine.appointment.id
})

/** Stores a further appointment, and returns its id. */
async function create(facts: Partial<Appointment>): Promise<string> {
  const stored = { ...mine.appointment, id: newUuid(), ...facts }
  await createRecord(db.table, mine.clinic, appointmentStore(db), stored)
  return stored.id
}

type Action = 'confirm' | 'check-in' | 'complete' | 'no-show' | 'cancel' | 'reopen'

const act = async (action: Action, body: object = {}, more: Record<string, string> = {}, on = id) =>
  request(`${action}-appointment`, { path: { id: on }, body, headers: { ...headers, ...more } })

const read = async () => (await request('get-appointment', { path: { id }, headers })).body.data

/** The names of the appointment's events. */
const events = async () => (await announcedEvents(db, id)).map(([name]) => name)

/** What verify finds wrong with the clinic. */
async function differences(): Promise<unknown[]> {
  const found: unknown[] = []
  await verifyClinic(db.table, mine.clinic.id, { repair: false, onDifference: (one) => found.push(one) })
  return found
}

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/)

describe.each<[Action, string, object]>([
  ['confirm', 'confirmed', { status: 'scheduled', confirmed_at: timestamp }],
  ['check-in', 'checked_in', { status: 'scheduled', checked_in_at: timestamp }],
  ['complete', 'completed', { status: 'completed' }],
  ['no-show', 'no_show', { status: 'no_show' }],
  ['cancel', 'cancelled', { status: 'cancelled', cancelled_at: timestamp, cancellation_reason: null }],
])('%s', (action, event, changes) => {
  it('changes the appointment once, announces one event, and leaves the rest as it was', async () => {
    const before = await read()
    const first = await act(action)
    expect(first).toMatchObject({
      status: 200,
      body: { data: { ...before, ...changes, updated_at: timestamp } },
    })
    expect(await act(action)).toMatchObject({ status: 200, body: first.body })
    expect(await read()).toEqual(first.body.data)
    expect(await events()).toEqual(['appointment.created', `appointment.${event}`])
  })
})

it('returns 409 for an action on a cancelled appointment, and changes nothing', async () => {
  const { body } = await act('cancel', { reason: 'Ill' })
  expect(await act('complete')).toMatchObject({
    status: 409,
    body: { error: 'APPOINTMENT_CLOSED', message: 'errors.developer_api.appointment_closed' },
  })
  expect(await read()).toEqual(body.data)
})

describe('before the day of the appointment', () => {
  const date = '2099-05-04'
  it.each<[Action, string]>([
    ['check-in', '00:00:00'],
    ['complete', '00:00:00'],
    ['no-show', '09:00:00'],
  ])('rejects %s with a 422 that says from when on it is possible', async (action, time) => {
    id = await create({ date })
    expect(await act(action)).toMatchObject({
      status: 422,
      body: {
        error: 'VALIDATION',
        message: 'errors.developer_api.appointment_not_due',
        details: [{ field: 'appointment_date', issue: expect.any(String), from: `${date}T${time}+03:00` }],
      },
    })
  })
})

describe('reopen', () => {
  it.each<Action>(['complete', 'no-show'])(
    'undoes %s, takes the time again, and keeps that the patient arrived',
    async (action) => {
      await act('check-in')
      const { body: closed } = await act(action)
      const reopened = await act('reopen')
      expect(reopened).toMatchObject({
        status: 200,
        body: { data: { ...closed.data, status: 'scheduled', updated_at: timestamp } },
      })
      expect(await act('reopen')).toMatchObject({ status: 200, body: reopened.body })
      expect((await events()).filter((event) => event === 'appointment.updated')).toHaveLength(1)
      expect(await differences()).toEqual([])
    },
  )

  it.each([
    ['slot', () => ({ room: null })],
    ['room', () => ({ doctor: { id: newUuid(), fullName: 'Dr. Can Er' } })],
  ])('returns a 409 with other times when the time of the %s was booked since', async (kind, facts) => {
    const { id: room, name } = mine.room
    const missed = { status: 'no_show', date: '2099-05-04', room: { id: room, name } } as const
    id = await create(missed)
    const before = await read()
    await create({ ...missed, status: 'scheduled', startTime: '09:15', endTime: '09:45', ...facts() })
    expect(await act('reopen')).toMatchObject({
      status: 409,
      body: { message: `errors.developer_api.${kind}_unavailable`, details: [{}, {}, {}] },
    })
    expect(await read()).toEqual(before)
  })

  it('returns a 409 for a cancelled appointment, and for one of an erased patient', async () => {
    await act('cancel')
    const other = await createPopulatedClinic(db.table)
    const { headers: theirs } = await issueCredential(db.table, other.clinic)
    await act('complete', {}, theirs, other.appointment.id)
    await patientChanges(db.table).erase(other.clinic.id, other.patient.id)
    const closed = { status: 409, body: { message: 'errors.developer_api.appointment_closed' } }
    expect(await act('reopen')).toMatchObject(closed)
    expect(await act('reopen', {}, theirs, other.appointment.id)).toMatchObject(closed)
  })
})

it('keeps the reason of a cancellation, and the first one when it is repeated', async () => {
  expect((await act('cancel', { reason: 'Ill' })).body.data.cancellation_reason).toBe('Ill')
  expect((await act('cancel', { reason: 'Other' })).body.data.cancellation_reason).toBe('Ill')
})

it('shows the reason of a cancellation without the read scope only to the request that set it', async () => {
  const { headers: writer } = await issueCredential(db.table, mine.clinic, ['appointment.write'])
  const cancel = async (body: object, key: string = newUuid()) =>
    (await act('cancel', body, { ...writer, 'idempotency-key': key })).body.data.cancellation_reason
  const first = newUuid()
  for (let times = 0; times < 2; times++) {
    expect(await cancel({ reason: 'Ill' }, first)).toBe('Ill')
    for (const reason of ['Ill', 'Other']) {
      const key = newUuid()
      expect([reason, await cancel({ reason }, key), await cancel({ reason }, key)]).toEqual([
        reason,
        undefined,
        undefined,
      ])
    }
    expect([await cancel({}), await cancel({ reason: null })]).toEqual([undefined, null])
  }
  expect((await read()).cancellation_reason).toBe('Ill')
})

it('accepts a request without a body, with a content type and without one', async () => {
  const { 'content-type': _, ...withoutType } = headers
  const handler = await handlerOf({ id: 'cancel-appointment' })
  for (const sent of [headers, withoutType])
    expect((await call(handler, { method: 'POST', path: { id }, headers: sent })).status).toBe(200)
})

it('changes no appointment of an erased patient, and erases the reason and the stored response', async () => {
  const other = await createPopulatedClinic(db.table)
  const credential = await issueCredential(db.table, other.clinic)
  const more = { ...credential.headers, 'idempotency-key': 'k' }
  const reason = 'canary of a cancellation'
  expect((await act('cancel', { reason }, more, other.appointment.id)).status).toBe(200)
  expect(await tableText(db)).toContain(reason)
  await patientChanges(db.table).erase(other.clinic.id, other.patient.id)
  expect(await tableText(db)).not.toContain(reason)
  expect((await act('cancel', {}, credential.headers, other.appointment.id)).status).toBe(404)
})
