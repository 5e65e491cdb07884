import { describe, expect, it } from 'vitest'
import { type AvailabilityRequest, availableSlots } from '../../../../shared/domain/booking/availability.ts'
import type { Doctor } from '../../../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../../../shared/domain/booking/working-hours.ts'
import { aDoctor } from '../../../support/sample-records.ts'

const doctor = (id: string, hours: string): Doctor =>
  aDoctor({ id, fullName: `Dr. ${id}`, hours: parseWeeklyHours(hours) })
const bo = doctor('Bo', 'mon-sun 09:00-11:00')
const ada = doctor('Ada', 'mon-sun 08:30-10:30')
const free = () => []
const request: AvailabilityRequest = {
  from: '2026-05-04',
  to: '2026-05-05',
  minutes: 60,
  limit: 1000,
  roomBusyOn: free,
  timezone: 'Europe/Istanbul',
  clock: { date: '2026-05-01', seconds: 0 },
}

const shown = (...args: Parameters<typeof availableSlots>) =>
  availableSlots(...args).map(({ date, from, doctor: { id } }) => `${date.slice(8)} ${from / 60} ${id}`)

describe('availableSlots', () => {
  it('lists slots by date, start, and name and id of the doctor, the last date included', () => {
    const calendars = [bo, ada, { ...bo, id: 'Cem' }].map((one) => ({ doctor: one, busyOn: free }))
    expect(shown(calendars, request)).toEqual(
      ['04', '05'].flatMap((day) =>
        ['8.5 Ada', '9 Bo', '9 Cem', '9.5 Ada', '10 Bo', '10 Cem'].map((slot) => `${day} ${slot}`),
      ),
    )
  })

  it('leaves out what is taken of the doctor on that date, or of the room', () => {
    const busyOn = (date: string) => (date === '2026-05-04' ? [{ from: 540, to: 541 }] : [])
    const roomBusyOn = (date: string) => (date === '2026-05-05' ? [{ from: 659, to: 700 }] : [])
    expect(shown([{ doctor: bo, busyOn }], { ...request, roomBusyOn })).toEqual(['04 10 Bo', '05 9 Bo'])
  })

  it.each([1, 3, 4, 5])('lists the first %i slots of the days', (limit) => {
    const calendars = [{ doctor: bo, busyOn: free }]
    expect(shown(calendars, { ...request, limit })).toEqual(shown(calendars, request).slice(0, limit))
  })
})
