import { applyAction } from '../../shared/domain/booking/appointment-actions.ts'
import { availableSlots } from '../../shared/domain/booking/availability.ts'
import { type BookingRequest, bookAppointment } from '../../shared/domain/booking/book-appointment.ts'
import type { Treatment } from '../../shared/domain/booking/catalogue.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentChangeStore } from '../../shared/store/calendar/appointment-changes.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { type AvailabilityQuestion, availabilityStore } from '../../shared/store/calendar/availability.ts'
import { bookingStore } from '../../shared/store/calendar/booking.ts'
import { roomStore, treatmentStore } from '../../shared/store/catalogue.ts'
import { EMPTY_HEAD, patientHeadItem } from '../../shared/store/patients/head.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { AVAILABILITY, type Bound, EXTERNAL_ID_UNITS, WRITE_UNITS } from './bounds.ts'
import type { MeteredTable } from './meter.ts'
import { createDoctors, createdAt, newAppointment, newPatient, newWrite, referenceTo } from './records.ts'

const DATE = '2026-05-04'
const moment = { timezone: 'Europe/Berlin', clock: { date: '2026-01-01', seconds: 0 } }

/** Bookings, changes and actions with idempotency keys, and free slots. `unmeasured` writes what they need. */
export async function addBookings(
  unmeasured: Table,
  { table, add }: MeteredTable,
  clinic: ClinicId,
): Promise<void> {
  const { patient, doctors, room, treatments } = await prepare(unmeasured, clinic)
  const [treatment] = treatments
  const booking = bookingStore({ table })
  const changes = appointmentChangeStore({ table })
  const availability = availabilityStore({ table })
  const request = (facts: Partial<BookingRequest>): BookingRequest => ({
    id: newUuid(),
    patient: patient.id,
    doctor: doctors[0].id,
    date: DATE,
    startTime: '09:00',
    minutes: 30,
    treatments: [],
    room: null,
    notes: null,
    externalId: null,
    createdAt,
    ...moment,
    ...facts,
  })
  const book = (wanted: BookingRequest) => {
    const decide = (facts: Parameters<typeof bookAppointment>[1]) => bookAppointment(wanted, facts)
    return booking.book(
      clinic,
      wanted,
      decide,
      newWrite(table, clinic, () => ({ data: wanted })),
    )
  }
  const question: AvailabilityQuestion = {
    doctor: doctors[0].id,
    treatments: [],
    room: undefined,
    from: DATE,
    to: DATE,
  }
  await add('availability', { units: 10, roundTrips: 2 }, () =>
    Promise.all([availability.read(clinic, question), booking.defaultDuration(clinic)]),
  )
  for (const [at, { id, doctorIds }] of treatments.entries())
    await add(
      `availability, ${doctorIds.length} doctors, 31 days, a treatment and a room: the first page`,
      AVAILABILITY[at] as Bound,
      async () => {
        const days = { doctor: undefined, treatments: [id], room: room.id, from: DATE, to: addDays(DATE, 30) }
        const facts = await availability.read(clinic, days)
        if (facts.kind !== 'found') throw new Error('The catalogue is missing.')
        const asked = { ...moment, minutes: 30, limit: 1000, roomBusyOn: facts.roomBusyOn }
        for await (const { calendars, ...portion } of facts.portions)
          if (availableSlots(calendars, { ...asked, ...portion }).length === 1000) return
        throw new Error('Slots are missing.')
      },
    )
  const bound = { units: WRITE_UNITS.appointment + 4, roundTrips: 2 }
  await add('book, with an idempotency key (read and write units)', bound, () => book(request({})))
  const withExternalId = { units: bound.units + EXTERNAL_ID_UNITS + 5, roundTrips: 5 }
  await add('book with an external id (write units, and 5 of reads)', withExternalId, () =>
    book(request({ startTime: '09:30', externalId: 'BENCH-1' })),
  )
  const full = request({ startTime: '10:00', treatments: [treatment?.id ?? ''], room: room.id })
  await add('book with a treatment and a room (read and write units)', WITH_ROOM, () => book(full))
  const move = { date: addDays(DATE, 1), startTime: '11:00', doctor: doctors[1]?.id }
  await add('move to another doctor and day, with a room (read and write units)', MOVE, () =>
    changes.change(clinic, {
      id: full.id,
      changes: move,
      moment,
      write: newWrite(table, clinic, () => ({ data: full })),
    }),
  )
  await add('cancel, with a room (read and write units)', CANCEL, () =>
    changes.act(
      clinic,
      full.id,
      (before) =>
        applyAction(before, { kind: 'cancel', reason: null }, { at: createdAt, timezone: moment.timezone }),
      newWrite(table, clinic, () => ({ data: full })),
    ),
  )
}

/** Beyond a booking: the day of the room, and the checks of the room and the treatment. */
const WITH_ROOM = { units: WRITE_UNITS.appointment + 14, roundTrips: 2 }
/** Beyond a booking: the old rows and days are removed. */
const MOVE = { units: WRITE_UNITS.appointment + 28, roundTrips: 3 }
/** Beyond a change of status: the days of doctor and room, the check of the patient, the stored response. */
const CANCEL = { units: WRITE_UNITS.statusChange + 12, roundTrips: 3 }

/**
 * Stores a patient, a room, and doctors who offer treatments, each treatment as many as a bound of availability has. Each has an
 * appointment on each day that a first page reads.
 */
async function prepare(table: Table, clinic: ClinicId) {
  const patient = newPatient()
  const doctors = await createDoctors(table, clinic, 500, parseWeeklyHours('mon-sun 09:00-17:00'))
  const room = { id: newUuid(), name: 'Room 1', departmentId: null, isActive: true }
  const treatmentOf = (count: number): Treatment => ({
    id: newUuid(),
    name: 'Check-up',
    code: null,
    description: null,
    minutes: 30,
    price: 0,
    currency: 'EUR',
    doctorIds: doctors.slice(0, count).map(({ id }) => id),
    isActive: true,
  })
  const treatments = [20, 100, 500].map(treatmentOf)
  const added = <T>(after: T) => ({ before: null, after })
  await table.transact([table.putWrite(patientHeadItem(clinic, EMPTY_HEAD))])
  await patientWriter({ table }).createMany(clinic, [patient])
  await roomStore({ table }).save(clinic, [added(room)])
  await treatmentStore({ table }).save(clinic, treatments.map(added))
  for (const [at, doctor] of doctors.entries())
    for (let day = 0; day < (at < 20 ? 31 : at < 100 ? 6 : 1); day++) {
      const changes = new Changeset(table, clinic)
      const appointment = newAppointment({
        patient: referenceTo(patient),
        doctor: { id: doctor.id, fullName: doctor.fullName },
        date: addDays(DATE, day),
        startTime: '16:00',
        endTime: '16:30',
      })
      appointmentStore({ table }).change(changes, null, appointment)
      await changes.commit()
    }
  return { patient, doctors, room, treatments }
}
