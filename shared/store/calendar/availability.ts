import { type DoctorCalendar, MAX_AVAILABILITY_DOCTORS } from '../../domain/booking/availability.ts'
import type { Room, Treatment } from '../../domain/booking/catalogue.ts'
import type { Doctor } from '../../domain/booking/doctor.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { daysBetween } from '../../domain/clock.ts'
import type { Interval } from '../../domain/interval.ts'
import { sortedByName } from '../by-name.ts'
import { roomStore, treatmentStore } from '../catalogue.ts'
import { doctorStore } from '../doctors.ts'
import { doctorDayPartition, roomDayPartition } from '../keys/calendar.ts'
import type { Table } from '../table/table.ts'
import { busyTimes, findDays } from './busy-days.ts'

/** The doctor, treatment and dates of a query of availability; dates are clinic-local and inclusive. */
export type AvailabilityQuestion = {
  /** Undefined for every active doctor who offers the treatment. */
  readonly doctor: string | undefined
  readonly treatment: string | undefined
  readonly room: string | undefined
  readonly from: string
  readonly to: string
}

export type AvailabilityFacts =
  | { readonly kind: 'doctor_not_found' | 'treatment_not_found' | 'room_not_found' }
  | {
      readonly kind: 'found'
      /** Doctors who can be booked, by name. */
      readonly calendars: readonly DoctorCalendar[]
      readonly treatment: Treatment | null
      readonly roomBusyOn: (date: string) => readonly Interval[]
    }

type BusyOn = (date: string) => readonly Interval[]

/** Reads what availability depends on: one query for each doctor and room, however many days are asked for. */
export function availabilityStore({ table }: { table: Table }) {
  const doctors = doctorStore({ table })
  const rooms = roomStore({ table })
  const treatments = treatmentStore({ table })

  async function read(clinic: ClinicId, question: AvailabilityQuestion): Promise<AvailabilityFacts> {
    const { doctor: doctorId, treatment: treatmentId, room: roomId, from, to } = question
    const busyOf = (pk: string): Promise<BusyOn> => busyBetween(pk, from, to)
    const [doctor, doctorBusyOn, treatment, room, roomBusyOn] = await Promise.all([
      doctorId === undefined ? null : doctors.find(clinic, doctorId),
      doctorId === undefined ? null : busyOf(doctorDayPartition(clinic, doctorId)),
      treatmentId === undefined ? null : treatments.find(clinic, treatmentId),
      roomId === undefined ? null : rooms.find(clinic, roomId),
      roomId === undefined ? () => [] : busyOf(roomDayPartition(clinic, roomId)),
    ])
    if (doctorId !== undefined && !doctor) return { kind: 'doctor_not_found' }
    if (treatmentId !== undefined && !treatment) return { kind: 'treatment_not_found' }
    if (roomId !== undefined && !room) return { kind: 'room_not_found' }
    const found = { kind: 'found', treatment, roomBusyOn } as const
    if (!isBookable(room, treatment, doctorId)) return { ...found, calendars: [] }
    if (doctor && doctorBusyOn) return { ...found, calendars: [{ doctor, busyOn: doctorBusyOn }] }
    const offering = await activeDoctors(clinic, treatment?.doctorIds ?? [])
    const calendars = offering.map(async (one) => ({
      doctor: one,
      busyOn: await busyOf(doctorDayPartition(clinic, one.id)),
    }))
    return { ...found, calendars: await Promise.all(calendars) }
  }

  /** The doctors, at most {@link MAX_AVAILABILITY_DOCTORS}, by name. */
  async function activeDoctors(clinic: ClinicId, ids: readonly string[]): Promise<Doctor[]> {
    const found = ids.length === 0 ? [] : [...(await doctors.findMany(clinic, ids)).values()]
    const active = found.filter(({ isActive }) => isActive)
    return sortedByName(active, ({ fullName }) => fullName).slice(0, MAX_AVAILABILITY_DOCTORS)
  }

  async function busyBetween(pk: string, from: string, to: string): Promise<BusyOn> {
    const dayOf = await findDays(table, pk, from, daysBetween(from, to))
    return (date) => busyTimes(dayOf(date))
  }

  return { read }
}

/** Whether any slot can be booked: none in an inactive room, or for a treatment that the doctor does not offer. */
const isBookable = (room: Room | null, treatment: Treatment | null, doctor: string | undefined): boolean =>
  room?.isActive !== false &&
  treatment?.isActive !== false &&
  (!treatment || doctor === undefined || treatment.doctorIds.includes(doctor))
