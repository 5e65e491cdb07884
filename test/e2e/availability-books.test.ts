/** Over HTTP: every listed slot can be booked; any other start fails for the reason that the oracle returns. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { NEW_DOCTOR } from '../../bin/clinic/import/entities/doctors.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { SCOPES } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../support/credentials.ts'
import { get, type HttpResponse, post, type RunningStack, runStack } from '../support/local-stack.ts'
import { property } from '../support/scale.ts'
import { expectedRejection, formatMinute } from '../support/slot-oracle.ts'
import { aPatient, newClinic } from '../support/table.ts'

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Asia/Kathmandu',
]
/** Days on which one of the zones skips or repeats time, and an ordinary day. */
const DATES = ['2027-03-28', '2027-03-14', '2027-10-03', '2027-09-05', '2027-10-31', '2027-05-04']
const WEEKS = [
  'mon-sun 00:00-23:59',
  'mon-sun 01:00-05:00',
  'mon-sun 00:30-02:15,02:15-03:40,05:00-06:00',
  'mon-sun 22:00-23:59',
  'mon-fri 09:00-12:00',
]
const BREAKS = ['', 'mon-sun 01:20-01:50', 'mon-sun 04:00-04:30,22:30-23:00']

let stack: RunningStack
const clinics: { clinic: Clinic; pair: string; patient: string }[] = []

beforeAll(async () => {
  stack = await runStack({ demo: false })
  for (const timezone of ZONES) {
    const clinic = await newClinic(stack.table, { timezone })
    const patient = aPatient()
    await patientWriter(stack).createMany(clinic.id, [patient])
    const { key, secret } = await issueCredential(stack.table, clinic, SCOPES)
    clinics.push({ clinic, pair: `${key}:${secret}`, patient: patient.id })
  }
})
afterAll(() => stack.close())

const REASONS: Record<string, [status: number, key: string]> = {
  outside_hours: [422, 'errors.developer_api.outside_working_hours'],
  taken: [409, 'errors.developer_api.slot_unavailable'],
}

it('lists exactly the slots that can be booked', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(ZONES.length - 1),
      fc.constantFrom(...DATES),
      fc.constantFrom(...WEEKS),
      fc.constantFrom(...BREAKS),
      fc.constantFrom(15, 25, 30, 45, 60, 90),
      fc.array(fc.integer({ min: 0, max: 1438 }), { minLength: 3, maxLength: 6 }),
      async (at, date, week, pauses, duration, others) => {
        const { clinic, pair, patient } = clinics[at] as (typeof clinics)[number]
        const doctor = {
          ...NEW_DOCTOR,
          id: newUuid(),
          fullName: 'Dr. X',
          hours: parseWeeklyHours(week),
          breaks: parseWeeklyHours(pauses),
        }
        await doctorStore(stack).save(clinic.id, [{ before: null, after: doctor }])
        const busy: { from: number; to: number }[] = []
        const book = (from: number): Promise<HttpResponse> =>
          post(
            stack,
            '/appointments',
            {
              patient_id: patient,
              doctor_id: doctor.id,
              appointment_date: date,
              start_time: formatMinute(from),
              duration,
            },
            { pair },
          )
        const expectOutcome = async (from: number): Promise<void> => {
          const reason = expectedRejection({ doctor, date, timezone: clinic.timezone, busy }, from, duration)
          const { status, body } = await book(from)
          if (reason === null) {
            expect(status).toBe(201)
            busy.push({ from, to: from + duration })
          } else expect([status, body.message]).toEqual(REASONS[reason])
        }
        const listed = async (): Promise<number[]> => {
          const { body } = await get(
            stack,
            `/availability?doctor_id=${doctor.id}&date=${date}&duration=${duration}`,
            pair,
          )
          return body.data.map(
            ({ start_time }: { start_time: string }) =>
              Number(start_time.slice(0, 2)) * 60 + Number(start_time.slice(3)),
          )
        }
        for (const from of others.slice(0, 2)) await expectOutcome(from)
        const slots = await listed()
        for (const from of slots)
          expect(
            expectedRejection({ doctor, date, timezone: clinic.timezone, busy }, from, duration),
          ).toBeNull()
        for (const from of others.slice(2))
          if (!slots.some((slot) => slot < from + duration && from < slot + duration))
            await expectOutcome(from)
        for (const from of slots.slice(0, 12)) expect((await book(from)).status).toBe(201)
        expect((await listed()).filter((from) => slots.slice(0, 12).includes(from))).toEqual([])
      },
    ),
    property(8, 1_000),
  )
})
