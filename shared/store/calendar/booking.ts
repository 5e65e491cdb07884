import type { Appointment } from '../../domain/appointment.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { addDays } from '../../domain/clock.ts'
import { type Interval, parseTime } from '../../domain/interval.ts'
import { clinicStore } from '../clinics.ts'
import { doctorStore, type StoredDoctor } from '../doctors.ts'
import { doctorDayKey, doctorDayPartition } from '../keys/calendar.ts'
import { doctorKey } from '../keys/clinics.ts'
import { patientKey } from '../keys/patients.ts'
import { patientStore, type StoredPatient } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import { UnavailableError } from '../table/errors.ts'
import type { IdempotencyGuard, StoredResponse } from '../table/idempotency.ts'
import { ConditionFailed, type Item, type Table } from '../table/table.ts'
import { appointmentStore } from './appointments.ts'

/** Days after the wanted one that are searched for other times. */
export const ALTERNATIVE_DAYS = 14

/** A clinic whose setting is not known. */
const DEFAULT_APPOINTMENT_MINUTES = 30

/** Each lost attempt is another booking of the same doctor's day; it is over long before. */
const MAX_ATTEMPTS = 30

/** A doctor's day as read: what is taken, and the version that a booking is conditional on. */
export type StoredDay = { readonly busy: Interval[]; readonly version: number }

/** What booking knows when it decides. */
export type BookingContext = {
  readonly patient: StoredPatient | undefined
  readonly doctor: StoredDoctor | null
  readonly day: StoredDay
}

/** What is decided: an appointment to be written with the answer to keep, or an answer to keep without one. */
export type BookingDecision<Booked, Refused> =
  | { readonly appointment: Appointment; readonly status: number; readonly response: Booked }
  | { readonly appointment: null; readonly status: number; readonly response: Refused }

export function bookingStore({ table }: { table: Table }) {
  const appointments = appointmentStore({ table })
  const doctors = doctorStore({ table })
  const patients = patientStore({ table })

  /** The clinic's own appointment length, in minutes. */
  async function defaultDuration(clinic: ClinicId): Promise<number> {
    return (await clinicStore({ table }).find(clinic))?.appointmentMinutes ?? DEFAULT_APPOINTMENT_MINUTES
  }

  async function findDay(clinic: ClinicId, doctor: string, date: string): Promise<StoredDay> {
    return toStoredDay(await table.get(doctorDayKey(clinic, doctor, date)))
  }

  /** What is taken on a date and the {@link ALTERNATIVE_DAYS} after it; a day without an entry is free. */
  async function findDays(clinic: ClinicId, doctor: string, date: string): Promise<Map<string, StoredDay>> {
    const pk = doctorDayPartition(clinic, doctor)
    const items = await table.query({
      pk,
      from: date,
      to: addDays(date, ALTERNATIVE_DAYS),
      limit: ALTERNATIVE_DAYS + 1,
    })
    return new Map(items.map((item) => [item.sk, toStoredDay(item)]))
  }

  /**
   * Books: reads, lets `decide` judge what was read, and writes its decision under the condition that the doctor's day,
   * doctor and patient are still as they were. Of bookings that overlap one succeeds; the others judge again and see it.
   */
  async function book<Booked, Refused>(
    clinic: ClinicId,
    wanted: { readonly patient: string; readonly doctor: string; readonly date: string },
    idempotency: IdempotencyGuard,
    decide: (facts: BookingContext) => Promise<BookingDecision<Booked, Refused>>,
  ): Promise<StoredResponse | BookingDecision<Booked, Refused>> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const [storedResponse, known, doctor, read] = await Promise.all([
        idempotency.find(),
        patients.findMany(clinic, [wanted.patient]),
        doctors.find(clinic, wanted.doctor),
        findDay(clinic, wanted.doctor, wanted.date),
      ])
      if (storedResponse) return storedResponse
      const facts = { patient: known.get(wanted.patient), doctor, day: read }
      const decision = await decide(facts)
      try {
        await write(clinic, facts, decision, idempotency)
        return decision
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
      }
    }
    throw new UnavailableError('the doctor\u2019s day is booked by others all the time')
  }

  async function write(
    clinic: ClinicId,
    { patient, doctor, day }: BookingContext,
    { appointment, status, response }: BookingDecision<unknown, unknown>,
    idempotency: IdempotencyGuard,
  ): Promise<void> {
    const changes = new Changeset(table, clinic)
    if (appointment && patient && doctor) {
      appointments.change(changes, null, appointment)
      changes.expectVersion(doctorDayKey(clinic, doctor.id, appointment.date), day.version)
      changes.requireVersion(patientKey(clinic, patient.id), patient.version)
      changes.requireVersion(doctorKey(clinic, doctor.id), doctor.version)
    }
    idempotency.store(changes, status, response, patient?.id ?? '')
    await changes.commit()
  }

  return { defaultDuration, findDay, findDays, findDoctor: doctors.find, book }
}

/** Attributes of the item that are no appointments. */
const RESERVED_ATTRIBUTES = new Set(['pk', 'sk', 'v'])

function toStoredDay(item: Item | undefined): StoredDay {
  const times = Object.entries(item ?? {}).flatMap(([name, value]) =>
    RESERVED_ATTRIBUTES.has(name) ? [] : [String(value)],
  )
  const busy = times.map((time) => ({ from: parseTime(time.slice(0, 5)), to: parseTime(time.slice(6)) }))
  return { busy, version: (item?.v as number | undefined) ?? 0 }
}
