/** The demo's year as rows, before anything is loaded. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { NEW_DOCTOR, timeOff } from '../../../bin/clinic/import/entities/doctors.ts'
import { demoClinics } from '../../../bin/demo/clinics.ts'
import { APPOINTMENT_STATUSES } from '../../../shared/domain/booking/appointment.ts'
import { bookingRejection } from '../../../shared/domain/booking/slots.ts'
import { parseWeeklyHours } from '../../../shared/domain/booking/working-hours.ts'
import { parseTime } from '../../../shared/domain/interval.ts'
import { CHANNELS, MESSAGE_STATUSES, MESSAGE_TYPES } from '../../../shared/domain/messages/message.ts'
import { INVOICE_STATUSES } from '../../../shared/domain/money/invoice.ts'
import { PAYMENT_METHODS, PAYMENT_STATUSES, PAYMENT_TYPES } from '../../../shared/domain/money/payment.ts'

const TODAYS = ['2026-11-20', '2026-08-10', '2027-02-28', '2026-05-04']
const BY_DAY = TODAYS.flatMap((today) =>
  demoClinics(today).map((clinic) => ({ today, clinic, name: `${clinic.name} on ${today}` })),
)

/** Pins rows without keeping them here; a change that is meant changes it. */
const digest = (value: unknown) =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
const valuesOf = <R, K extends keyof R>(rows: readonly R[], field: K) =>
  new Set(rows.map((row) => row[field]))
const cents = (amount: number) => Math.round(amount * 100)

describe('the demo clinics of a day', () => {
  it('are the same on every machine and in every run', () => {
    expect(['2026-11-20', '2026-08-10'].map((today) => digest(demoClinics(today)))).toEqual([
      '88aca208c7370749',
      'c2c5a7ecc90863d5',
    ])
  })

  it('have the same doctors and patients on every day', () => {
    for (const today of TODAYS) {
      const people = demoClinics(today).map(({ doctors, patients }) => [doctors, patients])
      expect(digest(people)).toBe('9ce78477ef025f9d')
    }
  })
})

describe.each(BY_DAY)('$name', ({ clinic, today }) => {
  const { appointments, doctors, invoices, messages, patients, payments } = clinic

  it('have records of every status and kind', () => {
    expect(valuesOf(appointments, 'status')).toEqual(new Set(APPOINTMENT_STATUSES))
    expect(valuesOf(invoices, 'status')).toEqual(new Set(INVOICE_STATUSES))
    expect(valuesOf(payments, 'status')).toEqual(new Set(PAYMENT_STATUSES))
    expect(valuesOf(payments, 'type')).toEqual(new Set(PAYMENT_TYPES))
    expect(valuesOf(payments, 'payment_method')).toEqual(new Set(PAYMENT_METHODS))
    expect(valuesOf(messages, 'status')).toEqual(new Set(MESSAGE_STATUSES))
    expect(valuesOf(messages, 'type')).toEqual(new Set(MESSAGE_TYPES))
    expect(valuesOf(messages, 'channel')).toEqual(new Set(CHANNELS))
  })

  it('have appointments that booking accepts, and none with former doctors', () => {
    const ever = { date: '2000-01-01', seconds: 0 }
    for (const { external_id, full_name: fullName, is_active, hours, breaks, time_off } of doctors) {
      if (is_active === false) continue
      const doctor = {
        ...NEW_DOCTOR,
        id: external_id,
        fullName,
        hours: parseWeeklyHours(hours ?? ''),
        breaks: parseWeeklyHours(breaks ?? ''),
        timeOff: time_off === undefined ? [] : timeOff.parse(time_off),
      }
      for (const row of appointments.filter((one) => one.doctor_external_id === external_id)) {
        const interval = { from: parseTime(row.start_time), to: parseTime(row.end_time) }
        const day = { doctor, date: row.appointment_date, timezone: clinic.timezone, busy: [] }
        expect(bookingRejection(day, interval, ever)).toBeNull()
      }
    }
    const left = new Set(doctors.flatMap((one) => (one.is_active === false ? [one.external_id] : [])))
    const theirs = appointments.filter((row) => left.has(row.doctor_external_id))
    expect(theirs.filter(({ appointment_date: date }) => date >= today)).toEqual([])
    expect(theirs.length > 0).toBe(left.size > 0)
  })

  it('have no overlapping appointments of a doctor, and no two appointments of a patient on a day', () => {
    const ends = new Map<string, string>()
    const days = new Set<string>()
    for (const row of appointments) {
      const calendar = `${row.doctor_external_id} ${row.appointment_date}`
      expect(row.start_time >= (ends.get(calendar) ?? '')).toBe(true)
      ends.set(calendar, row.end_time)
      days.add(`${row.patient_external_id} ${row.appointment_date}`)
    }
    expect(days.size).toBe(appointments.length)
  })

  it('have past appointments completed and future appointments open', () => {
    const dates = appointments.map(({ appointment_date }) => appointment_date)
    const days = (date = '') => (Date.parse(date) - Date.parse(today)) / 86_400_000
    expect(days(dates[0])).toBeGreaterThanOrEqual(-365)
    expect(days(dates[0])).toBeLessThan(-355)
    expect(days(dates.at(-1))).toBeGreaterThan(30)
    expect(days(dates.at(-1))).toBeLessThanOrEqual(42)
    for (const { status, appointment_date: date } of appointments) {
      expect(date < today ? ['completed', 'cancelled', 'no_show'] : ['scheduled', 'cancelled']).toContain(
        status,
      )
    }
    for (const { created_at } of [...appointments, ...invoices, ...payments, ...messages]) {
      expect(created_at < today).toBe(true)
    }
  })

  it('have invoices only for completed appointments, and payments only up to the invoiced amount', () => {
    const numbers = invoices.map(({ invoice_number }) => invoice_number)
    expect(numbers.every((number) => /^20\d\d-\d{6}$/.test(number))).toBe(true)
    expect(numbers).toEqual([...new Set(numbers)].sort())
    const paid = new Map<string, number>()
    for (const { invoice_external_id: id, amount, type, status } of payments) {
      expect(amount).toBeGreaterThan(0)
      if (status === 'completed')
        paid.set(id, (paid.get(id) ?? 0) + cents(type === 'refund' ? -amount : amount))
    }
    for (const { external_id, status, total_amount } of invoices) {
      const got = paid.get(external_id) ?? 0
      const due = cents(total_amount)
      if (status === 'paid') expect(got).toBe(due)
      else if (status === 'partially_paid') expect(got > 0 && got < due).toBe(true)
      else expect(got).toBe(0)
    }
    expect(invoices.some(({ line_items }) => line_items.some(({ quantity }) => quantity % 1 !== 0))).toBe(
      true,
    )
    expect(invoices.some(({ discount_amount }) => discount_amount > 0)).toBe(true)
    expect(
      [
        ...valuesOf(
          invoices.map(({ line_items }) => line_items),
          'length',
        ),
      ].sort(),
    ).toEqual([1, 2, 3, 4])
  })

  it('have messages to their patients, with a reason if they failed', () => {
    const byId = new Map(patients.map((patient) => [patient.external_id, patient]))
    for (const row of messages) {
      const patient = byId.get(row.patient_external_id)
      expect(row.recipient).toBe(row.channel === 'sms' ? patient?.phone_number : patient?.email_address)
      expect(row.subject !== null).toBe(row.channel === 'email')
      if (row.status === 'failed') expect(row.error_message).not.toBeNull()
      if (row.status === 'queued') expect([row.sent_at, row.provider_message_id]).toEqual([null, null])
    }
  })

  it('have notes, some too long for a list row', () => {
    const bytes = appointments.map(({ notes }) => Buffer.byteLength(notes ?? ''))
    expect(bytes.filter((size) => size > 700).length).toBe(2)
    expect(bytes.filter((size) => size > 0 && size < 100).length).toBeGreaterThan(10)
  })
})
