import type { Appointment } from '../../domain/appointment.ts'
import {
  ALTERNATIVE_DAYS,
  alternativesTo,
  type BookingFacts,
  type BookingRequest,
  type BookingVerdict,
} from '../../domain/book-appointment.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { addDays } from '../../domain/clock.ts'
import type { Doctor } from '../../domain/doctor.ts'
import { type Interval, parseTime } from '../../domain/interval.ts'
import type { DatedSlot } from '../../domain/slots.ts'
import type { Stamped } from '../../domain/stamped.ts'
import { LAST_DATE } from '../../domain/timestamp.ts'
import { clinicStore } from '../clinics.ts'
import { doctorStore, type StoredDoctor } from '../doctors.ts'
import { doctorDayKey, doctorDayPartition } from '../keys/calendar.ts'
import { doctorKey } from '../keys/clinics.ts'
import { shortId } from '../keys/key.ts'
import { patientKey } from '../keys/patients.ts'
import { patientStore, type StoredPatient } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { IdempotencyGuard, StoredResponse } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retry-on-conflict.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import { appointmentStore } from './appointments.ts'

/** For a clinic without a stored setting. */
const DEFAULT_APPOINTMENT_MINUTES = 30

/** A doctor's day as it was read: the busy times, their appointments, and the version that a booking is conditional on. */
export type StoredDay = {
  readonly busy: Interval[]
  /** Short ids of the appointments. */
  readonly appointments: ReadonlySet<string>
  readonly version: number
}

/** What was decided. A taken slot comes with other times to offer. */
export type BookingOutcome =
  | Exclude<BookingVerdict, { kind: 'taken' | 'booked' }>
  | { readonly kind: 'booked'; readonly appointment: Stamped<Appointment> }
  | { readonly kind: 'taken'; readonly alternatives: DatedSlot[] }

/** The outcomes whose response is stored under the idempotency key. After any other, the key can be used again. */
export type StoredOutcome = Extract<BookingOutcome, { kind: 'booked' | 'taken' }>

type StoredFacts = {
  readonly patient: StoredPatient | undefined
  readonly doctor: StoredDoctor | null
  readonly day: StoredDay
}

export function bookingStore({ table }: { table: Table }) {
  const appointments = appointmentStore({ table })
  const doctors = doctorStore({ table })
  const patients = patientStore({ table })

  /** The clinic's setting for the length of an appointment, in minutes. */
  async function defaultDuration(clinic: ClinicId): Promise<number> {
    return (await clinicStore({ table }).find(clinic))?.appointmentMinutes ?? DEFAULT_APPOINTMENT_MINUTES
  }

  async function findDay(clinic: ClinicId, doctor: string, date: string): Promise<StoredDay> {
    return toStoredDay(await table.get(doctorDayKey(clinic, doctor, date)))
  }

  /** The stored days from a date to {@link ALTERNATIVE_DAYS} after it. A day that is missing is free. */
  async function findDays(clinic: ClinicId, doctor: string, date: string): Promise<Map<string, StoredDay>> {
    const pk = doctorDayPartition(clinic, doctor)
    const last = addDays(date, ALTERNATIVE_DAYS)
    const items = await table.query({
      pk,
      from: date,
      to: last < LAST_DATE ? last : LAST_DATE,
      limit: ALTERNATIVE_DAYS + 1,
    })
    return new Map(items.map((item) => [item.sk, toStoredDay(item)]))
  }

  /**
   * Reads the facts, has `decide` judge them, and writes what the verdict says under the condition that the doctor's day,
   * doctor and patient are still as read. Of overlapping bookings one succeeds; the others read and decide again.
   * `response` returns what is stored under the idempotency key.
   * @throws UnavailableError when other bookings of the day win every time
   */
  async function book(
    clinic: ClinicId,
    request: BookingRequest,
    decide: (facts: BookingFacts) => BookingVerdict,
    idempotency: IdempotencyGuard,
    response: (outcome: StoredOutcome) => { readonly status: number; readonly body: unknown },
  ): Promise<StoredResponse | BookingOutcome> {
    return retryOnConflict(async () => {
      const [storedResponse, found, doctor, day] = await Promise.all([
        idempotency.find(),
        patients.findMany(clinic, [request.patient]),
        doctors.find(clinic, request.doctor),
        findDay(clinic, request.doctor, request.date),
      ])
      if (storedResponse) return storedResponse
      const patient = found.get(request.patient)
      // An earlier attempt was committed after all, although its response was lost.
      const isBooked = day.appointments.has(shortId(request.id))
      const verdict = decide({ patient, doctor, busy: isBooked ? [] : day.busy })
      const booked = isBooked ? await appointments.find(clinic, request.id) : null
      if (booked && verdict.kind === 'booked') return { kind: 'booked', appointment: booked.record }
      if (verdict.kind !== 'booked' && verdict.kind !== 'taken') return verdict
      const changes = new Changeset(table, clinic)
      const outcome: StoredOutcome =
        verdict.kind === 'booked'
          ? {
              kind: 'booked',
              appointment: addBooking(changes, verdict.appointment, { patient, doctor, day }),
            }
          : await findAlternatives(clinic, request, doctor)
      const { status, body } = response(outcome)
      idempotency.store(changes, status, body, request.patient)
      await changes.commit()
      return outcome
    })
  }

  async function findAlternatives(
    clinic: ClinicId,
    request: BookingRequest,
    doctor: Doctor | null,
  ): Promise<StoredOutcome> {
    if (!doctor) return { kind: 'taken', alternatives: [] }
    const days = await findDays(clinic, doctor.id, request.date)
    const busyOn = (date: string) => days.get(date)?.busy ?? []
    return { kind: 'taken', alternatives: alternativesTo(request, doctor, busyOn) }
  }

  function addBooking(
    changes: Changeset,
    appointment: Appointment,
    { patient, doctor, day }: StoredFacts,
  ): Stamped<Appointment> {
    const { clinic } = changes
    const booked = appointments.change(changes, null, appointment)
    changes.expectVersion(doctorDayKey(clinic, appointment.doctor.id, appointment.date), day.version)
    if (patient) changes.requireVersion(patientKey(clinic, patient.id), patient.version)
    if (doctor) changes.requireVersion(doctorKey(clinic, doctor.id), doctor.version)
    return booked
  }

  return { defaultDuration, findDay, findDoctor: doctors.find, book }
}

/** Attributes of the item that are not appointments. */
const RESERVED_ATTRIBUTES = new Set(['pk', 'sk', 'v'])

function toStoredDay(item: Item | undefined): StoredDay {
  const times = Object.entries(item ?? {}).filter(([name]) => !RESERVED_ATTRIBUTES.has(name))
  return {
    busy: times.map(([, time]) => toInterval(String(time))),
    appointments: new Set(times.map(([id]) => id)),
    version: (item?.v as number | undefined) ?? 0,
  }
}

const toInterval = (time: string): Interval => ({
  from: parseTime(time.slice(0, 5)),
  to: parseTime(time.slice(6)),
})
