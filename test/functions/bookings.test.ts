/** Booking and changing appointments with rooms, treatments and ends. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Room, Treatment } from '../../shared/domain/booking/catalogue.ts'
import { NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { roomStore, treatmentStore } from '../../shared/store/catalogue.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { announcedEvents } from '../support/all-items.ts'
import { aRoom, aTreatment } from '../support/catalogue.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { aPatient, newClinic } from '../support/table.ts'

const db = tableOfFunctions()
let clinic: Clinic
let headers: Record<string, string>
const patient = aPatient()
const aDoctor = (name: string) => ({
  ...NEW_DOCTOR,
  id: newUuid(),
  fullName: name,
  hours: parseWeeklyHours('mon-sun 09:00-12:00'),
})
const [bo, ada, theirDoctor] = [aDoctor('Dr. Bo'), aDoctor('Dr. Ada'), aDoctor('Dr. Eve')]
const [theirPatient, theirRoom] = [aPatient(), aRoom()]
const [room, other, closed]: [Room, Room, Room] = [
  aRoom({ name: 'Room 1' }),
  aRoom({ name: 'Room 2' }),
  aRoom({ isActive: false }),
]
const both = { doctorIds: [bo.id, ada.id] }
const [checkup, xray, retired, foreign]: [Treatment, Treatment, Treatment, Treatment] = [
  aTreatment({ name: 'Check-up', minutes: 20, ...both }),
  aTreatment({ name: 'X-ray', minutes: 15, ...both }),
  aTreatment({ isActive: false, ...both }),
  aTreatment({ ...both }),
]

beforeAll(async () => {
  clinic = await newClinic(db.table)
  await patientWriter(db).createMany(clinic.id, [patient])
  const added = <T>(after: T) => ({ before: null, after })
  await doctorStore(db).save(clinic.id, [bo, ada].map(added))
  await roomStore(db).save(clinic.id, [room, other, closed].map(added))
  await treatmentStore(db).save(clinic.id, [checkup, xray, retired].map(added))
  const elsewhere = await newClinic(db.table)
  await treatmentStore(db).save(elsewhere.id, [added(foreign)])
  await roomStore(db).save(elsewhere.id, [added(theirRoom)])
  await doctorStore(db).save(elsewhere.id, [added(theirDoctor)])
  await patientWriter(db).createMany(elsewhere.id, [theirPatient])
  headers = (await issueCredential(db.table, clinic)).headers
})

let day = 0
let date: string
beforeEach(() => {
  date = new Date(Date.UTC(2031, 0, 1 + day++)).toISOString().slice(0, 10)
})

const book = async (body: object = {}, more: Record<string, string> = {}) =>
  request('create-appointment', {
    body: {
      patient_id: patient.id,
      doctor_id: bo.id,
      appointment_date: date,
      start_time: '09:00',
      ...body,
    },
    headers: { ...headers, ...more },
  })
const change = async (id: string, body: object, more: Record<string, string> = {}) =>
  request('update-appointment', { path: { id }, body, headers: { ...headers, ...more } })
const read = async (id: string) => request('get-appointment', { path: { id }, headers })

/** The names of an appointment's events. */
const eventsOf = async (id: string) => (await announcedEvents(db, id)).map(([name]) => name)

const slot = (start_time: string, end_time: string) => ({ appointment_date: date, start_time, end_time })
const issues = (...details: [field: string, issue: string][]) => ({
  status: 422,
  body: {
    message: 'errors.developer_api.validation',
    details: details.map(([field, issue]) => ({ field, issue })),
  },
})

describe('a booking', () => {
  it('returns the room and the treatments, and takes as long as they do', async () => {
    const response = await book({ treatment_ids: [checkup.id, xray.id], room_id: room.id })
    expect(response).toMatchObject({
      status: 201,
      body: {
        data: {
          end_time: '09:35',
          treatments: [
            { id: checkup.id, name: 'Check-up' },
            { id: xray.id, name: 'X-ray' },
          ],
          room: { id: room.id, name: 'Room 1' },
          confirmed_at: null,
          checked_in_at: null,
          cancelled_at: null,
          cancellation_reason: null,
        },
      },
    })
    expect((await read(response.body.data.id)).body).toEqual(response.body)
  })

  it.each<[object, [string, string][]]>([
    [{ end_time: '09:50', duration: 30 }, [['end_time', 'must be start_time plus duration']]],
    [{ end_time: '09:00' }, [['end_time', 'must be 5 to 480 minutes after start_time']]],
    [{ appointment_date: '2200-01-01' }, [['appointment_date', 'must not be after 2199-12-31']]],
    [
      { treatment_ids: [checkup.id, retired.id], room_id: closed.id },
      [
        ['treatment_ids.1', 'is not an active treatment'],
        ['room_id', 'is not an active room'],
      ],
    ],
    [{ treatment_ids: [checkup.id, checkup.id] }, [['treatment_ids', 'must not name a treatment twice']]],
  ])('with %j is a 422 that names each wrong field', async (body, details) => {
    expect(await book(body)).toMatchObject(issues(...details))
  })

  it.each<[string, object, object, string]>([
    ['patient', { patient_id: newUuid() }, { patient_id: theirPatient.id }, 'patient_id'],
    ['doctor', { doctor_id: newUuid() }, { doctor_id: theirDoctor.id }, 'doctor_id'],
    [
      'treatment',
      { treatment_ids: [checkup.id, newUuid()] },
      { treatment_ids: [checkup.id, foreign.id] },
      'treatment_ids.1',
    ],
    ['room', { room_id: newUuid() }, { room_id: theirRoom.id }, 'room_id'],
  ])(
    'with an unknown %s is a 404 that names the field, the same for another clinic’s',
    async (kind, unknown, theirs, field) => {
      const { status, text } = await book(unknown)
      const body = {
        error: 'NOT_FOUND',
        message: `errors.developer_api.${kind}_not_found`,
        details: [{ field }],
      }
      expect([status, text]).toEqual([404, JSON.stringify(body)])
      expect((await book(theirs)).text).toBe(text)
    },
  )

  it('in a room that is taken is a 409 with times at which doctor and room are free', async () => {
    expect((await book({ room_id: room.id })).status).toBe(201)
    expect((await book({ start_time: '10:30' })).status).toBe(201)
    const response = await book({ doctor_id: ada.id, start_time: '09:15', room_id: room.id })
    expect(response).toMatchObject({
      status: 409,
      body: {
        error: 'SLOT_UNAVAILABLE',
        message: 'errors.developer_api.room_unavailable',
        details: [slot('09:30', '10:00'), slot('10:00', '10:30'), slot('10:30', '11:00')],
      },
    })
    // The doctor of the alternatives is the one who was asked for.
    const ofBo = await book({ start_time: '09:15', room_id: other.id })
    expect([ofBo.body.message, ofBo.body.details]).toEqual([
      'errors.developer_api.slot_unavailable',
      [slot('09:30', '10:00'), slot('10:00', '10:30'), slot('11:00', '11:30')],
    ])
    expect((await book({ doctor_id: ada.id, room_id: other.id })).status).toBe(201)
  })

  it('of a time that is taken gets the same 409 again under its key, which other routes do not share', async () => {
    const key = { 'idempotency-key': newUuid() }
    const { id } = (await book()).body.data
    const taken = await book({}, key)
    expect(taken.status).toBe(409)
    expect((await request('cancel-appointment', { path: { id }, headers })).status).toBe(200)
    expect(await book({}, key)).toMatchObject({ status: 409, text: taken.text })
    const creating = { body: { first_name: 'Ada', last_name: 'Kaya' }, headers: { ...headers, ...key } }
    expect((await request('create-patient', creating)).status).toBe(201)
    expect((await book()).status).toBe(201)
  })

  it('of one room at the same time succeeds once, also with different doctors', async () => {
    const bookings = [bo, ada].map(({ id }) => book({ doctor_id: id, room_id: room.id }))
    const statuses = (await Promise.all(bookings)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([201, 409])
  })
})

describe('a change', () => {
  const booked = async (body: object = {}): Promise<string> => (await book(body)).body.data.id

  it('moves the appointment, frees the old time, and announces one event', async () => {
    const id = await booked({ room_id: room.id })
    const moved = await change(id, { doctor_id: ada.id, start_time: '10:00', room_id: other.id })
    expect(moved).toMatchObject({
      status: 200,
      body: {
        data: {
          doctor: { id: ada.id, full_name: 'Dr. Ada' },
          start_time: '10:00',
          end_time: '10:30',
          room: { id: other.id, name: 'Room 2' },
        },
      },
    })
    expect((await read(id)).body).toEqual(moved.body)
    expect(await eventsOf(id)).toEqual(['appointment.created', 'appointment.updated'])
    expect((await book({ room_id: room.id })).status).toBe(201)
    expect((await book({ doctor_id: ada.id, start_time: '10:00' })).status).toBe(409)
    expect((await book({ start_time: '10:00', room_id: other.id })).status).toBe(409)
  })

  it('does not count the appointment itself', async () => {
    const id = await booked({ room_id: room.id })
    expect((await change(id, { start_time: '09:10', duration: 60 })).body.data.end_time).toBe('10:10')
  })

  it.each<[string, object, object]>([
    ['the doctor', { start_time: '10:15' }, { message: 'errors.developer_api.slot_unavailable' }],
    ['the room', { room_id: other.id }, { message: 'errors.developer_api.room_unavailable' }],
  ])(
    'onto a taken time of %s is a 409 with alternatives, and changes nothing',
    async (_what, body, expected) => {
      const id = await booked({ room_id: room.id })
      const before = await read(id)
      await booked({ start_time: '10:00' })
      await booked({ doctor_id: ada.id, room_id: other.id })
      const rejected = await change(id, body)
      expect(rejected).toMatchObject({ status: 409, body: { error: 'SLOT_UNAVAILABLE', ...expected } })
      expect(rejected.body.details).toHaveLength(3)
      expect((await read(id)).body).toEqual(before.body)
      expect(await eventsOf(id)).toEqual(['appointment.created'])
      const [{ start_time }] = rejected.body.details
      expect((await change(id, { ...body, start_time })).status).toBe(200)
    },
  )

  it('without an effect is a 200 without an event, also of a closed appointment', async () => {
    const id = await booked()
    const before = (await read(id)).body
    expect(await change(id, {})).toMatchObject({ status: 200, body: before })
    await request('cancel-appointment', { path: { id }, headers })
    expect((await change(id, {})).status).toBe(200)
    expect(await eventsOf(id)).toEqual(['appointment.created', 'appointment.cancelled'])
    expect(await change(id, { notes: 'Late' })).toMatchObject({
      status: 409,
      body: { error: 'APPOINTMENT_CLOSED' },
    })
  })

  it('of a closed appointment is a 409 without the read scope, whether the fields are right or not', async () => {
    const id = await booked({ notes: 'Pregnant', room_id: room.id })
    await request('cancel-appointment', { path: { id }, headers })
    const writer = (await issueCredential(db.table, clinic, ['appointment.write'])).headers
    const guesses = [{ notes: 'Pregnant' }, { notes: 'Other' }, { doctor_id: bo.id }, { start_time: '09:00' }]
    for (const guess of [...guesses, { room_id: room.id }, { treatment_ids: [] }, { end_time: '09:30' }])
      for (const body of [guess, { ...guess, external_id: `e-${id}` }])
        expect([body, (await change(id, body, writer)).body.message]).toEqual([
          body,
          'errors.developer_api.appointment_closed',
        ])
    for (const body of [{}, { external_id: `e-${id}` }, { external_id: `e-${id}` }])
      expect((await change(id, body, writer)).status).toBe(200)
  })

  it('of nothing but the notes is not checked, and clears them with null', async () => {
    const id = await booked({ notes: 'Bring papers' })
    const [found] = (await doctorStore(db).findMany(clinic.id, [bo.id])).values()
    if (!found) throw new Error('no doctor')
    await doctorStore(db).save(clinic.id, [{ before: found, after: { ...found, isActive: false } }])
    expect((await change(id, { notes: null })).body.data.notes).toBeNull()
    expect((await change(id, { duration: 15 })).status).toBe(200)
    expect((await change(id, { duration: 30 })).body.message).toMatch(/outside_working_hours$/)
    const [now] = (await doctorStore(db).findMany(clinic.id, [bo.id])).values()
    await doctorStore(db).save(clinic.id, [{ before: now ?? null, after: { ...found, isActive: true } }])
  })

  it.each<[object, [string, string][]]>([
    [{ end_time: '08:00' }, [['end_time', 'must be 5 to 480 minutes after start_time']]],
    [{ end_time: '10:00', duration: 30 }, [['end_time', 'must be start_time plus duration']]],
    [{ treatment_ids: [retired.id] }, [['treatment_ids.0', 'is not an active treatment']]],
    [
      { start_time: null, patient_id: newUuid() },
      [
        ['patient_id', 'is not a field of this request'],
        ['start_time', 'must be a time from 00:00 to 23:59, as HH:MM'],
      ],
    ],
  ])('to %j is a 422 that names each wrong field', async (body, details) => {
    expect(await change(await booked(), body)).toMatchObject(issues(...details))
  })

  it('returns 404 for an unknown id, before 412 for another state', async () => {
    const id = await booked()
    const stale = { 'if-match': '"other"' }
    for (const unknown of [{ doctor_id: newUuid() }, { room_id: newUuid() }, { treatment_ids: [newUuid()] }])
      expect((await change(id, unknown, stale)).body.message).toMatch(/(doctor|room|treatment)_not_found$/)
    expect((await change(newUuid(), {}, stale)).body.message).toMatch(/appointment_not_found$/)
    expect((await change(id, { start_time: '20:00' }, stale)).status).toBe(412)
    const { etag } = (await read(id)).headers
    expect((await change(id, { start_time: '20:00' }, { 'if-match': String(etag) })).status).toBe(422)
  })
})
