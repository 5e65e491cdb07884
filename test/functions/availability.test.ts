/** Free slots of several days and doctors, of a treatment and with a room: exactly the slots of the oracle. */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { NEW_DOCTOR } from '../../bin/clinic/import/entities/doctors.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { roomStore, treatmentStore } from '../../shared/store/catalogue.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { aRoom, aTreatment } from '../support/catalogue.ts'
import { issueCredential } from '../support/credentials.ts'
import { call } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { property } from '../support/scale.ts'
import { expectedRejection, expectedSlots, formatMinute } from '../support/slot-oracle.ts'
import { aPatient, newClinic, tableOfFile } from '../support/table.ts'

/** The last day skips an hour in Berlin. */
const DATES = ['2027-03-26', '2027-03-27', '2027-03-28']
const WEEKS = ['mon-sun 01:00-04:00', 'mon-sun 02:30-05:00,05:30-06:00', 'fri-sat 02:00-04:30']

const db = tableOfFile()
let clinic: Clinic
let headers: Record<string, string>
const patient = aPatient()

beforeAll(async () => {
  stubFunctionEnvironment(db.name)
  clinic = await newClinic(db.table, { timezone: 'Europe/Berlin' })
  await patientWriter(db).createMany(clinic.id, [patient])
  headers = { ...(await issueCredential(db.table, clinic)).headers, 'content-type': 'application/json' }
})

const list = async (query: Record<string, string>) =>
  call(await handlerOf({ id: 'get-availability' }), { query, headers })

const added = <T>(after: T) => ({ before: null, after })

const REASONS: Record<string, [status: number, key: string]> = {
  outside_hours: [422, 'errors.developer_api.outside_working_hours'],
  taken: [409, 'errors.developer_api.slot_unavailable'],
  room_taken: [409, 'errors.developer_api.room_unavailable'],
}

type Taken = { doctor: string; room: boolean; date: string; from: number; to: number }

const aStart = fc.record({
  doctor: fc.nat(1),
  date: fc.constantFrom(...DATES),
  from: fc.integer({ min: 55, max: 365 }),
  room: fc.boolean(),
})

it('lists exactly the slots of the oracle, each of which books, and rejects other starts for its reason', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(fc.constantFrom(...WEEKS), fc.constantFrom(...WEEKS)),
      fc.constantFrom(15, 25, 40, 60),
      fc.array(aStart, { minLength: 4, maxLength: 8 }),
      async (weeks, minutes, starts) => {
        const doctors = weeks.map((week, at) => ({
          ...NEW_DOCTOR,
          id: newUuid(),
          fullName: `Dr. ${at}`,
          hours: parseWeeklyHours(week),
        }))
        const room = aRoom()
        const treatment = aTreatment({ minutes, doctorIds: doctors.map(({ id }) => id) })
        await doctorStore(db).save(clinic.id, doctors.map(added))
        await roomStore(db).save(clinic.id, [added(room)])
        await treatmentStore(db).save(clinic.id, [added(treatment)])
        const taken: Taken[] = []
        const dayOf = (doctor: (typeof doctors)[number], date: string, inRoom: boolean) => ({
          doctor,
          date,
          timezone: clinic.timezone,
          busy: taken.filter((one) => one.date === date && one.doctor === doctor.id),
          roomBusy: inRoom ? taken.filter((one) => one.date === date && one.room) : [],
        })
        const book = async (
          doctor: (typeof doctors)[number],
          date: string,
          from: number,
          inRoom: boolean,
        ) => {
          const expected = expectedRejection(dayOf(doctor, date, inRoom), from, minutes)
          const { status, body } = await call(await handlerOf({ id: 'create-appointment' }), {
            method: 'POST',
            headers,
            body: JSON.stringify({
              patient_id: patient.id,
              doctor_id: doctor.id,
              appointment_date: date,
              start_time: formatMinute(from),
              treatment_ids: [treatment.id],
              room_id: inRoom ? room.id : null,
            }),
          })
          expect([status, body.message]).toEqual(expected ? REASONS[expected] : [201, undefined])
          if (!expected) taken.push({ doctor: doctor.id, room: inRoom, date, from, to: from + minutes })
        }
        const [date = '', , date_to = ''] = DATES
        const query = { treatment_id: treatment.id, date, date_to }
        const expectListed = async (inRoom: boolean, limit = 1000) => {
          const { body } = await list({ ...query, limit: String(limit), ...(inRoom && { room_id: room.id }) })
          const expected = DATES.flatMap((date) =>
            doctors
              .flatMap((doctor) =>
                expectedSlots(dayOf(doctor, date, inRoom), minutes).map((from) => ({ date, from, doctor })),
              )
              .sort((a, b) => a.from - b.from),
          )
          expect(body.data).toEqual(
            expected.slice(0, limit).map(({ date, from, doctor }) => ({
              date,
              start_time: formatMinute(from),
              end_time: formatMinute(from + minutes),
              duration_minutes: minutes,
              doctor: { id: doctor.id, full_name: doctor.fullName },
            })),
          )
          return expected
        }
        for (const { doctor, date, from, room: inRoom } of starts)
          await book(doctors[doctor] as (typeof doctors)[number], date, from, inRoom)
        await expectListed(false)
        const [first] = await expectListed(true)
        if (!first) return
        await book(first.doctor, first.date, first.from, true)
        await expectListed(true, 5)
      },
    ),
    property(6, 500),
  )
})

describe('GET /availability', () => {
  const hours = parseWeeklyHours('mon-sun 09:00-10:00')
  const doctors = ['Dr. B', 'dr. a', 'Dr. C'].map((fullName) => ({
    ...NEW_DOCTOR,
    id: newUuid(),
    fullName,
    hours,
  }))
  const [b, a, c] = doctors as [(typeof doctors)[0], (typeof doctors)[0], (typeof doctors)[0]]
  const treatment = aTreatment({ minutes: 60, doctorIds: [b.id, a.id] })
  const retired = aTreatment({ isActive: false, doctorIds: [b.id] })
  const closed = aRoom({ isActive: false })
  const date = '2031-05-05'

  beforeAll(async () => {
    await doctorStore(db).save(clinic.id, doctors.map(added))
    await treatmentStore(db).save(clinic.id, [treatment, retired].map(added))
    await roomStore(db).save(clinic.id, [closed].map(added))
  })

  it('has the shape of one day with a doctor and a date alone', async () => {
    expect((await list({ doctor_id: c.id, date })).text).toBe(
      JSON.stringify({
        data: [
          { start_time: '09:00', end_time: '09:30', duration_minutes: 30 },
          { start_time: '09:30', end_time: '10:00', duration_minutes: 30 },
        ],
        meta: { date, doctor_id: c.id, duration_minutes: 30, count: 2 },
      }),
    )
  })

  it('names the date of each slot with date_to, and the parameters in meta', async () => {
    const query = { doctor_id: b.id, treatment_id: treatment.id, date, date_to: '2031-05-06' }
    const slot = { start_time: '09:00', end_time: '10:00', duration_minutes: 60 }
    expect((await list(query)).body).toEqual({
      data: [
        { date, ...slot },
        { date: '2031-05-06', ...slot },
      ],
      meta: { ...query, duration_minutes: 60, count: 2 },
    })
  })

  it('lists the doctors who offer a treatment, by name', async () => {
    const { body } = await list({ treatment_id: treatment.id, date, duration: '50' })
    expect(
      body.data.map(({ doctor, duration_minutes }: any) => [doctor.full_name, duration_minutes]),
    ).toEqual([
      ['dr. a', 50],
      ['Dr. B', 50],
    ])
    expect(body.meta).toEqual({ date, treatment_id: treatment.id, duration_minutes: 50, count: 2 })
  })

  it.each<[string, Record<string, string>]>([
    ['of a treatment that the doctor does not offer', { doctor_id: c.id, treatment_id: treatment.id }],
    ['of an inactive treatment', { treatment_id: retired.id }],
    ['in an inactive room', { doctor_id: c.id, room_id: closed.id }],
  ])('has no slots %s', async (_of, query) => {
    expect((await list({ date, ...query })).body).toMatchObject({ data: [], meta: { count: 0 } })
  })

  it.each<[string, Record<string, string>]>([
    ['treatment_not_found', { treatment_id: newUuid() }],
    ['room_not_found', { doctor_id: c.id, room_id: newUuid() }],
    ['doctor_not_found', { doctor_id: newUuid(), treatment_id: treatment.id }],
  ])('returns 404 %s for an unknown id', async (key, query) => {
    expect(await list({ date, ...query })).toMatchObject({
      status: 404,
      body: { message: `errors.developer_api.${key}` },
    })
  })

  it.each<[Record<string, string>, object[]]>([
    [{ date }, [{ field: 'doctor_id', issue: 'is required' }]],
    [
      { doctor_id: c.id, date, date_to: '2031-06-05' },
      [{ field: 'date_to', issue: 'must be at most 30 days after date' }],
    ],
    [
      { doctor_id: c.id, date, date_to: '2031-05-04' },
      [{ field: 'date', issue: 'must not be after date_to' }],
    ],
    [
      { doctor_id: c.id, date, limit: '1001' },
      [{ field: 'limit', issue: 'must be a whole number from 1 to 1000' }],
    ],
  ])('returns 400 for %j', async (query, details) => {
    expect(await list(query)).toMatchObject({ status: 400, body: { details } })
  })

  it('lists 31 days, also at the end of the calendar', async () => {
    const query = { doctor_id: c.id, duration: '60' }
    expect((await list({ ...query, date, date_to: '2031-06-04' })).body.meta.count).toBe(31)
    expect((await list({ ...query, date: '2199-12-30', date_to: '2199-12-31' })).body.meta.count).toBe(2)
  })
})
