/** Appointments to come at which their doctor does not work are imported with a warning. NOW is 2026-05-01, 10:00 in the clinic. */
import { beforeEach, describe, expect, it } from 'vitest'
import { trialTable } from '../../../../bin/clinic/import/run/trial-table.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { appointment, importedClinic } from '../../../bin/clinic/import/calendar-fixtures.ts'

const imported = importedClinic()
const { load } = imported

/** A Monday. */
const coming = { ...appointment, appointment_date: '2026-05-04', start_time: '09:00', end_time: '09:30' }
const doctor = {
  external_id: 1,
  full_name: 'Dr. Eva Noll',
  hours: 'mon-fri 09:00-17:00',
  breaks: 'mon 12:00-13:00',
  time_off: '2026-05-05 "Travel"',
}
const OUTSIDE = "start_time or end_time is outside the doctor's working hours"

beforeEach(async () => {
  await load('doctors', [doctor])
})

it.each<[string, object, string[]]>([
  ['to come before the hours', { start_time: '08:30', end_time: '09:00' }, [OUTSIDE]],
  ['to come in a break', { start_time: '12:30', end_time: '13:30' }, [OUTSIDE]],
  ['to come on a day without hours', { appointment_date: '2026-05-09' }, [OUTSIDE]],
  [
    'to come in time off',
    { appointment_date: '2026-05-05' },
    ["appointment_date is in the doctor's time off"],
  ],
  [
    'to come on a holiday',
    { appointment_date: '2026-05-06' },
    ['appointment_date is a holiday of the clinic'],
  ],
  ['that is over', { appointment_date: '2026-04-05' }, []],
  ['that has begun', { appointment_date: '2026-05-01', start_time: '07:30', end_time: '23:00' }, []],
  ['that was cancelled', { appointment_date: '2026-05-09', status: 'cancelled' }, []],
  ['within the hours', {}, []],
])('a scheduled appointment %s is imported with the warnings for it', async (_, change, texts) => {
  await load('holidays', [{ external_id: 'h', from: '2026-05-06', name: 'Spring day' }])
  const { imported: count, warnings, warned } = await load('appointments', [{ ...coming, ...change }])
  expect([count, warnings, warned]).toEqual([1, texts.length, texts.map((text) => `1: ${text}`)])
})

describe('a scheduled appointment to come is imported with a warning', () => {
  it('of an inactive doctor, and of one without working hours', async () => {
    await load('doctors', [
      { ...doctor, is_active: false },
      { external_id: 2, full_name: 'Dr. Bo Lind' },
    ])
    const { id } = (await doctorStore(imported.db).list(imported.clinic.id)).find(
      ({ fullName }) => fullName === 'Dr. Bo Lind',
    ) ?? { id: '' }
    const rows = [coming, { ...coming, external_id: 'b', doctor_external_id: undefined, doctor_id: id }]
    expect((await load('appointments', rows)).warned).toEqual([
      '1: doctor_external_id is an inactive doctor',
      '2: doctor_id is a doctor without working hours',
    ])
  })

  it('by a trial too, which reads holidays of the same run', async () => {
    using trial = trialTable(imported.db.table)
    await load('holidays', [{ external_id: 'h', from: '2026-05-04' }], trial, { isTrial: true })
    const { warned } = await load('appointments', [coming], trial, { isTrial: true })
    expect(warned).toEqual(['1: appointment_date is a holiday of the clinic'])
  })
})

it.each([
  ['begins', '02:30', '03:00', 'start_time'],
  ['ends', '01:30', '02:00', 'end_time'],
])(
  'an appointment that %s at a time that occurs twice is imported with a warning',
  async (_, start_time, end_time, field) => {
    const row = { ...coming, appointment_date: '2025-10-26', start_time, end_time }
    const settings = { timezone: 'Europe/Berlin' }
    const { warned } = await load('appointments', [row], undefined, { settings })
    expect(warned).toEqual([`1: ${field} occurs twice on this day in Europe/Berlin; the first is taken`])
  },
)

it('says nothing of a row that is rejected, or has not changed', async () => {
  const outside = { ...coming, start_time: '18:00', end_time: '19:00' }
  const rows = [outside, { ...outside, external_id: 'b' }]
  expect(await load('appointments', rows)).toMatchObject({ rejected: 1, warned: [`1: ${OUTSIDE}`] })
  expect(await load('appointments', [outside])).toMatchObject({ unchanged: 1, warned: [] })
})
