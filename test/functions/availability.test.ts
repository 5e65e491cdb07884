/** Free slots of several days and doctors, of treatments and with a room: exactly the slots of the oracle, page by page. */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { listCursors } from '../../shared/requests/record-list.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { roomStore, treatmentStore } from '../../shared/store/catalogue.ts'
import { doctorStore, MAX_SAVED } from '../../shared/store/doctors.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { chunked } from '../../shared/store/table/chunked.ts'
import { aRoom, aTreatment } from '../support/catalogue.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { anAppointment } from '../support/sample-records.ts'
import { property } from '../support/scale.ts'
import { expectedRejection, expectedSlots, formatMinute } from '../support/slot-oracle.ts'
import { aPatient, newClinic } from '../support/table.ts'

/** The last day skips an hour in Berlin. */
const DATES = ['2027-03-26', '2027-03-27', '2027-03-28']
const WEEKS = ['mon-sun 01:00-04:00', 'mon-sun 02:30-05:00,05:30-06:00', 'fri-sat 02:00-04:30']

const db = tableOfFunctions()
let clinic: Clinic
let headers: Record<string, string>
const patient = aPatient()

/** A clinic has at most 500 active doctors, so that each run of a property has its own. */
async function openClinic(): Promise<void> {
  clinic = await newClinic(db.table, { timezone: 'Europe/Berlin' })
  await patientWriter(db).createMany(clinic.id, [patient])
  headers = (await issueCredential(db.table, clinic)).headers
}

const list = async (query: Record<string, string>) => request('get-availability', { query, headers })

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
        await openClinic()
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
          const { status, body } = await request('create-appointment', {
            headers,
            body: {
              patient_id: patient.id,
              doctor_id: doctor.id,
              appointment_date: date,
              start_time: formatMinute(from),
              treatment_ids: [treatment.id],
              room_id: inRoom ? room.id : null,
            },
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

/** A day of a doctor who works from 09:00 to 11:00 on it, and whether an appointment takes all of that time. */
type WorkingDay = { doctor: number; day: number; isTaken: boolean }

it.each([
  ['in one portion', 3],
  ['in portions of some days', 30],
  ['in portions that are read day by doctor', 130],
])('lists each slot of all doctors once on its pages, %s', async (_how, count) => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.record({ doctor: fc.nat(count - 1), day: fc.nat(30), isTaken: fc.boolean() }), {
        maxLength: 12,
        selector: ({ doctor, day }) => `${doctor} ${day}`,
      }),
      fc.constantFrom(1, 2, 3, 5, 1000),
      fc.boolean(),
      async (workingDays, limit, hasRoom) => {
        await openClinic()
        const first = '2031-05-05'
        const doctors = Array.from({ length: count }, (_, at) => ({
          ...NEW_DOCTOR,
          id: newUuid(),
          fullName: ['Dr. Öz', 'dr. oz', 'Dr. Öz Ay', 'Dr. A'][at % 4] as string,
          exceptions: Object.fromEntries(
            workingDays
              .filter(({ doctor }) => doctor === at)
              .map(({ day }) => [addDays(first, day), [{ start: '09:00', end: '11:00' }]]),
          ),
        }))
        const doctorIds = doctors.map(({ id }) => id)
        const treatments = [25, 35].map((minutes) => aTreatment({ minutes, doctorIds }))
        const room = aRoom()
        for (const chunk of chunked(doctors, MAX_SAVED))
          await doctorStore(db).save(clinic.id, chunk.map(added))
        await treatmentStore(db).save(clinic.id, treatments.map(added))
        await roomStore(db).save(clinic.id, [added(room)])
        const doctorOf = ({ doctor }: WorkingDay) => doctors[doctor] as (typeof doctors)[number]
        for (const working of workingDays.filter(({ isTaken }) => isTaken)) {
          const changes = new Changeset(db.table, clinic.id)
          const taken = anAppointment({
            id: newUuid(),
            patient: { id: patient.id, fullName: '' },
            doctor: { id: doctorOf(working).id, fullName: '' },
            room: working.day % 2 === 0 ? { id: room.id, name: room.name } : null,
            date: addDays(first, working.day),
            endTime: '11:00',
          })
          appointmentStore(db).change(changes, null, taken)
          await changes.commit()
        }
        const isRoomTaken = ({ day }: WorkingDay) =>
          hasRoom && day % 2 === 0 && workingDays.some((other) => other.day === day && other.isTaken)
        const fold = (name: string) => name.toLowerCase().replace('ö', 'o')
        const expected = workingDays
          .filter((working) => !working.isTaken && !isRoomTaken(working))
          .flatMap((working) => ['09:00', '10:00'].map((time) => ({ working, time })))
          .map(({ working, time }) => {
            const { id, fullName } = doctorOf(working)
            return [addDays(first, working.day), time, fold(fullName), id]
          })
          .sort((a, b) => (a.join('\t') < b.join('\t') ? -1 : 1))
          .map(([date, time, , id]) => [date, time, id])
        const query = {
          treatment_ids: treatments.map(({ id }) => id).join(','),
          ...(hasRoom && { room_id: room.id }),
          date: first,
          date_to: addDays(first, 30),
          limit: String(limit),
        }
        const listed: string[][] = []
        for (let after: string | undefined, hasMore = true; hasMore; ) {
          const { body } = await list({ ...query, ...(after && { after }) })
          const { count: found, has_more, next_after } = body.meta
          expect([found, has_more]).toEqual([body.data.length, next_after !== null])
          expect(found).toBeLessThanOrEqual(limit)
          if (found === 0) expect([has_more, expected.length - listed.length]).toEqual([false, 0])
          listed.push(...body.data.map(({ date, start_time, doctor }: any) => [date, start_time, doctor.id]))
          after = next_after
          hasMore = has_more
        }
        expect(listed).toEqual(expected)
      },
    ),
    property(2, 200),
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

  const other = aTreatment({ minutes: 430, doctorIds: [b.id, c.id] })

  beforeAll(async () => {
    await openClinic()
    await doctorStore(db).save(clinic.id, doctors.map(added))
    await treatmentStore(db).save(clinic.id, [treatment, retired, other].map(added))
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
      meta: { ...query, duration_minutes: 60, count: 2, has_more: false, next_after: null },
    })
  })

  it('lists the doctors who offer all of several treatments', async () => {
    const treatment_ids = `${treatment.id},${other.id.toUpperCase()}`
    const { body } = await list({ treatment_ids, date, duration: '60' })
    expect(body.data.map(({ doctor }: any) => doctor.id)).toEqual([b.id])
    expect(body.meta.treatment_ids).toEqual([treatment.id, other.id])
  })

  it('has a cursor on one day of a doctor if it was sent a limit', async () => {
    const query = { doctor_id: c.id, date, limit: '1' }
    const { data, meta } = (await list(query)).body
    expect([data[0].start_time, meta.has_more]).toEqual(['09:00', true])
    const { body } = await list({ ...query, after: meta.next_after })
    expect([body.data[0].start_time, body.meta.has_more, body.meta.next_after]).toEqual([
      '09:30',
      false,
      null,
    ])
  })

  it('returns 400 invalid_cursor for the cursor of another query, or a date outside of the range', async () => {
    const query = { treatment_id: treatment.id, date, limit: '1' }
    const { next_after: after } = (await list(query)).body.meta
    expect((await list({ ...query, limit: '5', after })).status).toBe(200)
    const filters = { date, treatment_id: treatment.id }
    const outside = listCursors({ list: 'availability', clinic: clinic.id, filters }).encode('2031-05-04')
    for (const wrong of [
      { ...query, duration: '30', after },
      { ...query, after: outside },
      { ...query, after: 'x' },
    ])
      expect(await list(wrong)).toMatchObject({
        status: 400,
        body: { message: 'errors.developer_api.invalid_cursor', details: [{ field: 'after' }] },
      })
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
    ['treatment_not_found', { treatment_ids: `${treatment.id},${newUuid()}` }],
    ['room_not_found', { doctor_id: c.id, room_id: newUuid() }],
    ['doctor_not_found', { doctor_id: newUuid(), treatment_id: treatment.id }],
  ])('returns 404 %s for an unknown id', async (key, query) => {
    expect(await list({ date, ...query })).toMatchObject({
      status: 404,
      body: { message: `errors.developer_api.${key}` },
    })
  })

  const issue = (field: string, text: string) => [{ field, issue: text }]
  it.each<[Record<string, string>, object[]]>([
    [{ date }, issue('doctor_id', 'is required')],
    [{ doctor_id: c.id, date: '2200-01-01' }, issue('date', 'must not be after 2199-12-31')],
    [
      { doctor_id: c.id, date, date_to: '2031-06-05' },
      issue('date_to', 'must be at most 30 days after date'),
    ],
    [{ doctor_id: c.id, date, date_to: '2031-05-04' }, issue('date', 'must not be after date_to')],
    [
      { treatment_id: treatment.id, treatment_ids: other.id, date },
      issue('treatment_ids', 'must not be combined with treatment_id'),
    ],
    ...[
      '',
      'x',
      `${other.id},`,
      `${other.id},${other.id}`,
      Array.from({ length: 11 }, newUuid).join(','),
    ].map((treatment_ids): [Record<string, string>, object[]] => [
      { treatment_ids, date },
      issue('treatment_ids', 'must be 1 to 10 different ids of treatments, separated by commas'),
    ]),
    [
      { treatment_ids: `${treatment.id},${other.id}`, date },
      issue('treatment_ids', 'must take at most 480 minutes together, unless duration is sent'),
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
