/** Reads the stored facts about the doctor, the treatments and the room of a requested appointment. */
import type { Room, Treatment } from '../../domain/booking/catalogue.ts'
import {
  ALTERNATIVE_DAYS,
  alternativesTo,
  type Moment,
  type Placement,
  type PlacementFacts,
  WHOLE_PLACEMENT,
} from '../../domain/booking/placement.ts'
import type { DatedSlot } from '../../domain/booking/slots.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { roomStore, type StoredEntry, treatmentStore } from '../catalogue.ts'
import { doctorStore, type StoredDoctor } from '../doctors.ts'
import { doctorDayKey, doctorDayPartition, roomDayKey, roomDayPartition } from '../keys/calendar.ts'
import { roomKey, treatmentKey } from '../keys/catalogue.ts'
import { doctorKey } from '../keys/clinics.ts'
import type { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'
import {
  type BusyDay,
  busyTimes,
  FREE_DAY,
  findDay,
  findDays,
  type HeldTime,
  requireDay,
} from './busy-days.ts'

/** The facts with the versions that a booking is conditional on. Parts that are not checked are not read. */
export type StoredPlacement = {
  readonly doctor: StoredDoctor | null
  readonly day: BusyDay | null
  readonly treatments: ReadonlyMap<string, StoredEntry<Treatment>>
  readonly room: StoredEntry<Room> | null
  readonly roomDay: BusyDay | null
}

export function placementStore({ table, now }: { table: Table; now: () => number }) {
  const doctors = doctorStore({ table })
  const rooms = roomStore({ table })
  const treatments = treatmentStore({ table })

  /** Reads the facts about the parts of a placement that are checked, concurrently. */
  async function read(
    clinic: ClinicId,
    { doctor, date, room, treatments: ids }: Placement,
    parts = WHOLE_PLACEMENT,
  ): Promise<StoredPlacement> {
    const asked = parts.room ? room : null
    const [foundDoctor, day, foundTreatments, foundRoom, roomDay] = await Promise.all([
      parts.time ? doctors.find(clinic, doctor) : null,
      parts.time ? findDay(table, doctorDayKey(clinic, doctor, date), now()) : null,
      parts.treatments && ids.length > 0 ? treatments.findMany(clinic, ids) : new Map(),
      asked === null ? null : rooms.find(clinic, asked),
      asked === null ? null : findDay(table, roomDayKey(clinic, asked, date), now()),
    ])
    return { doctor: foundDoctor, day, treatments: foundTreatments, room: foundRoom, roomDay }
  }

  /** Requires everything that was read to be as it was, when the placement is written. `holds` may change the holds of its days. */
  function requireUnchanged(
    changes: Changeset,
    placement: Placement,
    { doctor, day, treatments, room, roomDay }: StoredPlacement,
    holds?: (before: readonly HeldTime[]) => readonly HeldTime[],
  ): void {
    const { clinic } = changes
    const { date } = placement
    if (day) requireDay(changes, doctorDayKey(clinic, placement.doctor, date), day, holds)
    if (doctor) changes.requireVersion(doctorKey(clinic, doctor.id), doctor.version)
    for (const { id, version } of treatments.values())
      changes.requireVersion(treatmentKey(clinic, id), version)
    if (!room) return
    changes.requireVersion(roomKey(clinic, room.id), room.version)
    if (roomDay) requireDay(changes, roomDayKey(clinic, room.id, date), roomDay, holds)
  }

  /** Other times to offer when doctor or room is taken, not counting the time of the appointments and holds `except`. */
  async function alternatives(
    clinic: ClinicId,
    placement: Placement,
    { doctor: read, treatments }: StoredPlacement,
    moment: Moment,
    except?: readonly string[],
  ): Promise<DatedSlot[]> {
    const { doctor: id, room, date } = placement
    const [doctor, doctorDays, roomDays] = await Promise.all([
      read ?? doctors.find(clinic, id),
      findDays(table, doctorDayPartition(clinic, id), date, ALTERNATIVE_DAYS, now()),
      room === null
        ? () => FREE_DAY
        : findDays(table, roomDayPartition(clinic, room), date, ALTERNATIVE_DAYS, now()),
    ])
    if (!doctor) return []
    const busyOn = (day: string) => [doctorDays(day), roomDays(day)].flatMap((one) => busyTimes(one, except))
    return alternativesTo(placement, { doctor, treatments }, moment, busyOn)
  }

  return { read, requireUnchanged, alternatives }
}

/** The facts for the check, not counting the time of the appointments and holds `except`. */
export const factsOf = (
  { doctor, day, treatments, room, roomDay }: StoredPlacement,
  except: readonly string[],
): PlacementFacts => ({
  doctor,
  busy: day ? busyTimes(day, except) : [],
  treatments,
  room,
  roomBusy: roomDay ? busyTimes(roomDay, except) : [],
})
