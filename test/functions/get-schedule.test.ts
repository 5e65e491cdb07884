import { beforeAll, expect, it } from 'vitest'
import { NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { newClinic } from '../support/table.ts'

const db = tableOfFunctions()
const doctor = {
  ...NEW_DOCTOR,
  id: newUuid(),
  fullName: 'Dr. Bo Lind',
  hours: parseWeeklyHours('sat-sun 01:00-04:00'),
  breaks: parseWeeklyHours('sat 02:00-02:15'),
  timeOff: [{ from: '2027-03-29', to: '2027-04-30', reason: 'a reason' }],
}
let headers: Record<string, string>

beforeAll(async () => {
  const clinic = await newClinic(db.table, { timezone: 'Europe/Berlin' })
  await doctorStore(db).save(clinic.id, [{ before: null, after: doctor }])
  headers = (await issueCredential(db.table, clinic)).headers
})

const ask = async (query: Record<string, string>) =>
  request('get-schedule', { headers, path: { id: doctor.id }, query })

it('returns working hours of each day without breaks, skipped minutes and reasons', async () => {
  const { status, body } = await ask({ date: '2027-03-26', date_to: '2027-04-03' })
  expect([status, body.meta]).toEqual([
    200,
    { doctor_id: doctor.id, date: '2027-03-26', date_to: '2027-04-03', timezone: 'Europe/Berlin' },
  ])
  expect(body.data.length).toBe(9)
  expect(body.data.slice(0, 3)).toEqual([
    { date: '2027-03-26', windows: [], closed: null },
    {
      date: '2027-03-27',
      windows: [
        { start_time: '01:00', end_time: '02:00' },
        { start_time: '02:15', end_time: '04:00' },
      ],
      closed: null,
    },
    // The clocks skip from 2:00 to 3:00.
    {
      date: '2027-03-28',
      windows: [
        { start_time: '01:00', end_time: '02:00' },
        { start_time: '03:00', end_time: '04:00' },
      ],
      closed: null,
    },
  ])
  expect(body.data.slice(-2)).toEqual([
    { date: '2027-04-02', windows: [], closed: null },
    { date: '2027-04-03', windows: [], closed: 'time_off' },
  ])
})

it('returns one day unless date_to is sent, and 400 for more than 31 days', async () => {
  expect((await ask({ date: '2027-03-27' })).body.data.length).toBe(1)
  expect((await ask({ date: '2027-03-27', date_to: '2027-04-26' })).body.data.length).toBe(31)
  expect((await ask({ date: '2027-03-27', date_to: '2027-04-27' })).body).toMatchObject({
    details: [{ field: 'date_to', issue: 'must be at most 30 days after date' }],
  })
})
