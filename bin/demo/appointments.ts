import type { AppointmentStatus } from '../../shared/domain/booking/appointment.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { formatTime } from '../../shared/domain/interval.ts'
import { bookedShareOn, bookedSlots, canSee, leadDays, openingsOf, pickPatient } from './bookings.ts'
import type { DemoPatient } from './patients.ts'
import { bySpecialty, DAYS_AHEAD, DAYS_BACK, earlier, type Practice, timestamp } from './practice.ts'
import { deck, type SeededRandom, seeded } from './random.ts'

/** A row of the importer, with its patient and doctor, and its end in minutes since midnight. */
export type PlannedAppointment = ReturnType<typeof appointmentsOf>[number]

/** The appointments of all doctors, day by day. */
export function appointmentsOf(practice: Practice) {
  const { today, offset } = practice
  const random = seeded(practice.seed)
  const past = deck(random, { completed: 33, cancelled: 4, no_show: 3 })
  const ahead = deck(random, { scheduled: 17, cancelled: 1 })
  const calendars = practice.doctors.map((doctor) => ({
    doctor,
    openings: openingsOf(doctor, practice),
    lengths: bySpecialty(practice.appointmentMinutes, doctor),
    pool: practice.patients.filter((patient) => canSee(doctor, patient, today)),
  }))
  const appointments = []
  let count = 0
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
        const row = {
          external_id: `a${++count}`,
          patient_external_id: patient.external_id,
          doctor_external_id: doctor.external_id,
          appointment_date: date,
          start_time: formatTime(from),
          end_time: formatTime(to),
          status,
          notes: pickNote(random, status),
          created_at: timestamp(bookedOn, bookingMinute(random, bookedOn === date), offset),
        }
        appointments.push({ row, patient, doctor, end: to })
      }
    }
  }
  // Two completed appointments have a note too long for a list row.
  const completed = appointments.filter(({ row }) => row.status === 'completed')
  for (const third of [1, 2]) {
    const chosen = completed[Math.floor((third * completed.length) / 3)]
    if (chosen) chosen.row.notes = LONG_NOTE
  }
  return appointments
}

/** Minute of the booking. Same-day appointments are booked before opening time. */
const bookingMinute = (random: SeededRandom, sameDay: boolean): number =>
  sameDay ? random.integer(8 * 60, 8 * 60 + 25) : random.integer(9 * 60, 18 * 60)

const NOTES: Record<AppointmentStatus, [string, ...string[]]> = {
  scheduled: ['First appointment', 'Asks for an early call if a slot opens', 'Brings previous reports'],
  completed: [
    'Follow-up in two weeks',
    'Results discussed, no further appointment needed',
    'Prescription renewed for three months',
    'Referred for imaging',
  ],
  cancelled: ['Cancelled by phone', 'Travelling, will call again'],
  no_show: ['Did not come, did not answer the phone'],
}

const SHARE_WITH_NOTES = 0.15

const pickNote = (random: SeededRandom, status: AppointmentStatus): string | null =>
  random.chance(SHARE_WITH_NOTES) ? random.pick(NOTES[status]) : null

const LONG_NOTE = [
  'Reason for the appointment: tiredness for about three months, worse in the afternoon, with headaches once or twice a week. Sleeps six hours, two coffees a day, no new medicines.',
  'Findings: blood pressure 128/82, pulse 74, temperature 36.6 °C. Heart and lungs without findings. No swelling of the neck. Weight unchanged since last year.',
  'Discussed: blood count, iron and thyroid values to be taken this week, fasting. A diary of the headaches with time, meals and screen hours until the next appointment. Written advice on sleep was handed over.',
  'Plan: results by phone within five working days; next appointment in four weeks, earlier if there is fever, a change of vision or a headache that comes on suddenly. The patient has read the plan, has no questions, and agrees to a message with the date of the next appointment.',
].join('\n\n')
