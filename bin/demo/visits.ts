import type { AppointmentStatus } from '../../shared/domain/appointment.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { formatTime } from '../../shared/domain/interval.ts'
import { bookedShareOn, bookedSlots, canSee, leadDays, pickPatient } from './bookings.ts'
import { earlier, timestamp } from './days.ts'
import { pickNote, withLongNotes } from './notes.ts'
import { openingsOf } from './openings.ts'
import type { DemoPatient } from './patients.ts'
import { bySpecialty, DAYS_AHEAD, DAYS_BACK, type DemoDoctor, type Practice } from './practice.ts'
import { deck, type Random, seeded } from './random.ts'

/** A row of the importer's appointments. */
export type DemoAppointment = {
  readonly external_id: string
  readonly patient_external_id: string
  readonly doctor_external_id: string
  readonly appointment_date: string
  readonly start_time: string
  readonly end_time: string
  readonly status: AppointmentStatus
  readonly notes: string | null
  readonly created_at: string
}

/** An appointment with its patient and doctor. */
export type Visit = {
  readonly row: DemoAppointment
  readonly patient: DemoPatient
  readonly doctor: DemoDoctor
  /** End time in minutes since midnight. */
  readonly end: number
}

/** The visits of all doctors, day by day. */
export function visitsOf(practice: Practice): Visit[] {
  const { today, offset } = practice
  const random = seeded(practice.seed)
  const past = deck(random, { completed: 33, cancelled: 4, no_show: 3 })
  const ahead = deck(random, { scheduled: 17, cancelled: 1 })
  const calendars = practice.doctors.map((doctor) => ({
    doctor,
    openings: openingsOf(doctor, practice),
    lengths: bySpecialty(practice.visitMinutes, doctor),
    pool: practice.patients.filter((patient) => canSee(doctor, patient, today)),
  }))
  const visits: Visit[] = []
  for (let day = -DAYS_BACK; day <= DAYS_AHEAD; day++) {
    const date = addDays(today, day)
    const seenToday = new Set<DemoPatient>()
    for (const { doctor, openings, lengths, pool } of calendars) {
      for (const { from, to } of bookedSlots(random, openings(date), lengths, bookedShareOn(practice, day))) {
        const bookedOn = earlier(addDays(date, -leadDays(random)), addDays(today, -1))
        const patient = pickPatient(random, pool, seenToday, bookedOn)
        if (!patient) continue
        seenToday.add(patient)
        const status = day < 0 ? past() : ahead()
        const row: DemoAppointment = {
          external_id: `a${visits.length + 1}`,
          patient_external_id: patient.external_id,
          doctor_external_id: doctor.external_id,
          appointment_date: date,
          start_time: formatTime(from),
          end_time: formatTime(to),
          status,
          notes: pickNote(random, status),
          created_at: timestamp(bookedOn, bookingMinute(random, bookedOn === date), offset),
        }
        visits.push({ row, patient, doctor, end: to })
      }
    }
  }
  return withLongNotes(visits)
}

/** Minute of the booking. Same-day visits are booked before opening time. */
const bookingMinute = (random: Random, sameDay: boolean): number =>
  sameDay ? random.integer(8 * 60, 8 * 60 + 25) : random.integer(9 * 60, 18 * 60)
