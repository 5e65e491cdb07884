import {
  type AvailabilityRequest,
  type DoctorCalendar,
  MAX_DOCTOR_DAYS,
} from '../../domain/booking/availability.ts'
import type { Room, Treatment } from '../../domain/booking/catalogue.ts'
import type { Doctor } from '../../domain/booking/doctor.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { addDays, daysBetween } from '../../domain/clock.ts'
import { roomStore, treatmentStore } from '../catalogue.ts'
import { doctorStore } from '../doctors.ts'
import { doctorDayKey, doctorDayPartition, roomDayPartition } from '../keys/calendar.ts'
import type { Table } from '../table/table.ts'
import { busyTimes, findDays, toBusyDay } from './busy-days.ts'

/** The doctor, treatments, room and dates of a query of availability; dates are clinic-local and inclusive. */
export type AvailabilityQuestion = {
  /** Undefined for every active doctor who offers the treatments. */
  readonly doctor: string | undefined
  readonly treatments: readonly string[]
  readonly room: string | undefined
  readonly from: string
  readonly to: string
}

/** The days from one date to another, both inclusive, of all doctors who can be booked. */
export type Portion = {
  readonly from: string
  readonly to: string
  readonly calendars: readonly DoctorCalendar[]
}

export type AvailabilityFacts =
  | { readonly kind: 'doctor_not_found' | 'treatment_not_found' | 'room_not_found' }
  | {
      readonly kind: 'found'
      /** Of the whole range, in order. Each is read when it is asked for. */
      readonly portions: Iterable<Portion> | AsyncIterable<Portion>
      readonly treatments: readonly Treatment[]
      readonly roomBusyOn: BusyOn
    }

type BusyOn = AvailabilityRequest['roomBusyOn']

/** The number of doctors from which on all doctors of the clinic take fewer read units than these by id. */
const MANY_DOCTORS = 50

/** The most doctors whose days are read by a query for each. The one day of several, and the days of more, are read by their keys. */
const MAX_QUERIES = 100

/** Reads what availability depends on. */
export function availabilityStore({ table, now }: { table: Table; now: () => number }) {
  const doctors = doctorStore({ table })
  const rooms = roomStore({ table })
  const treatmentsOf = treatmentStore({ table })

  async function read(clinic: ClinicId, question: AvailabilityQuestion): Promise<AvailabilityFacts> {
    const { doctor: doctorId, treatments: treatmentIds, room: roomId, from, to } = question
    const busyOf = (pk: string): Promise<BusyOn> => busyBetween(pk, from, to)
    const [doctor, doctorBusyOn, known, room, roomBusyOn] = await Promise.all([
      doctorId === undefined ? null : doctors.find(clinic, doctorId),
      doctorId === undefined ? null : busyOf(doctorDayPartition(clinic, doctorId)),
      treatmentsOf.findMany(clinic, treatmentIds),
      roomId === undefined ? null : rooms.find(clinic, roomId),
      roomId === undefined ? () => [] : busyOf(roomDayPartition(clinic, roomId)),
    ])
    if (doctorId !== undefined && !doctor) return { kind: 'doctor_not_found' }
    if (known.size < treatmentIds.length) return { kind: 'treatment_not_found' }
    if (roomId !== undefined && !room) return { kind: 'room_not_found' }
    const treatments = [...known.values()]
    const found = { kind: 'found', treatments, roomBusyOn } as const
    if (!isBookable(room, treatments, doctorId)) return { ...found, portions: [] }
    if (doctor && doctorBusyOn)
      return { ...found, portions: [{ from, to, calendars: [{ doctor, busyOn: doctorBusyOn }] }] }
    const [first, ...others] = treatments.map(({ doctorIds }) => doctorIds)
    const offering = first?.filter((id) => others.every((ids) => ids.includes(id))) ?? []
    return { ...found, portions: portions(clinic, await activeDoctors(clinic, offering), from, to) }
  }

  async function activeDoctors(clinic: ClinicId, ids: readonly string[]): Promise<Doctor[]> {
    const found =
      ids.length < MANY_DOCTORS
        ? [...(await doctors.findMany(clinic, ids)).values()]
        : (await doctors.list(clinic)).filter(({ id }) => ids.includes(id))
    return found.filter(({ isActive }) => isActive)
  }

  /** At most {@link MAX_DOCTOR_DAYS} at a time. */
  async function* portions(
    clinic: ClinicId,
    bookable: readonly Doctor[],
    from: string,
    to: string,
  ): AsyncGenerator<Portion> {
    if (bookable.length === 0) return
    const days = Math.max(1, Math.floor(MAX_DOCTOR_DAYS / bookable.length))
    for (let date = from; date <= to; date = addDays(date, days)) {
      const end = addDays(date, days - 1)
      const last = end < to ? end : to
      yield { from: date, to: last, calendars: await calendars(clinic, bookable, date, last) }
    }
  }

  async function calendars(
    clinic: ClinicId,
    bookable: readonly Doctor[],
    from: string,
    to: string,
  ): Promise<DoctorCalendar[]> {
    if (bookable.length <= MAX_QUERIES && from !== to)
      return Promise.all(
        bookable.map(async (doctor) => ({
          doctor,
          busyOn: await busyBetween(doctorDayPartition(clinic, doctor.id), from, to),
        })),
      )
    const dates = Array.from({ length: daysBetween(from, to) + 1 }, (_, at) => addDays(from, at))
    const keys = bookable.flatMap(({ id }) => dates.map((date) => doctorDayKey(clinic, id, date)))
    const items = await table.getMany(keys)
    const days = new Map(items.map((item) => [`${item.pk} ${item.sk}`, busyTimes(toBusyDay(item, now()))]))
    return bookable.map((doctor) => {
      const pk = doctorDayPartition(clinic, doctor.id)
      return { doctor, busyOn: (date) => days.get(`${pk} ${date}`) ?? [] }
    })
  }

  async function busyBetween(pk: string, from: string, to: string): Promise<BusyOn> {
    const dayOf = await findDays(table, pk, from, daysBetween(from, to), now())
    return (date) => busyTimes(dayOf(date))
  }

  return { read }
}

/** Whether any slot can be booked: none in an inactive room, or for a treatment that the doctor does not offer. */
const isBookable = (
  room: Room | null,
  treatments: readonly Treatment[],
  doctor: string | undefined,
): boolean =>
  room?.isActive !== false &&
  treatments.every(
    ({ isActive, doctorIds }) => isActive && (doctor === undefined || doctorIds.includes(doctor)),
  )
