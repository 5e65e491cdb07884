import { isDeepStrictEqual } from 'node:util'
import { type Doctor, MAX_ACTIVE_DOCTORS, type TimeOff } from '../domain/booking/doctor.ts'
import type { Window } from '../domain/booking/working-hours.ts'
import type { ClinicId } from '../domain/clinic.ts'
import { doctorEventDraft } from '../domain/webhooks/event.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import { sortedByName } from './by-name.ts'
import { addToCount } from './catalogue-count.ts'
import { type Provenance, provenanceAttributes, provenanceOfItem } from './external-ids/provenance.ts'
import { doctorKey, doctorsPartition, holidaysKey } from './keys/clinics.ts'
import { doctorOwner } from './keys/copies.ts'
import { catalogueVersionKey } from './keys/operator.ts'
import { flag, number, optionalText, requireTypes, text, unknownAttributes } from './table/attributes.ts'
import { Changeset } from './table/changeset.ts'
import type { Table } from './table/table.ts'
import { readRecord } from './table/unreadable-record.ts'
import type { Item } from './table/write-requests.ts'

/** A doctor as it was read, with the version that a change of it is conditional on, and the number of its events, if there are any. */
export type StoredDoctor = WithUpdatedAt<ImportedDoctor> & {
  readonly version: number
  readonly events?: number
}

type ImportedDoctor = Doctor & Provenance

/** A doctor to be written: a new one, or a change of the one that was read. The events of one that was removed continue. */
export type DoctorChange = {
  readonly before: StoredDoctor | null
  readonly after: ImportedDoctor & Pick<StoredDoctor, 'events'>
}

/** The clinic would have more active doctors than {@link MAX_ACTIVE_DOCTORS}. */
export class TooManyActiveDoctors extends Error {
  constructor() {
    super(`The clinic has ${MAX_ACTIVE_DOCTORS} active doctors already, the most that it can have.`)
    this.name = 'TooManyActiveDoctors'
  }
}

/** How many active doctors a change adds: 1, 0 or -1. */
export const activeDoctorsAdded = ({ before, after }: DoctorChange): number =>
  Number(after.isActive) - Number(before?.isActive ?? false)

/** Doctors in one transaction: each takes up to four items, their number and the clinic's holidays one each. */
export const MAX_SAVED = 24

/** A clinic has tens of doctors, rarely hundreds, so its list is one partition that is read whole and sorted in memory. */
const MAX_DOCTORS = 10_000

export function doctorStore({ table }: { table: Table }) {
  async function find(clinic: ClinicId, id: string): Promise<StoredDoctor | null> {
    const item = await table.get(doctorKey(clinic, id))
    return item ? toDoctor(item) : null
  }

  async function findMany(clinic: ClinicId, ids: readonly string[]): Promise<Map<string, StoredDoctor>> {
    const items = await table.getMany(ids.map((id) => doctorKey(clinic, id)))
    return new Map(items.map((item) => [item.sk, toDoctor(item)]))
  }

  /** Sorted by name, without regard to case and accents, then by id. */
  async function list(clinic: ClinicId): Promise<StoredDoctor[]> {
    const items = await table.query({ pk: doctorsPartition(clinic), limit: MAX_DOCTORS })
    return sortedByName(items.map(toDoctor), ({ fullName }) => fullName)
  }

  /**
   * Writes whole doctors, at most {@link MAX_SAVED}: new ones with the clinic's holidays, or changed ones as they were read.
   * A new name marks its copies as stale (copies/copied-names.ts). `extendChanges` adds one item for each of them, as they are then
   * stored, to the transaction.
   * @throws ConditionFailed when one was changed since it was read, or holidays were while a new one is added, or other doctors
   * became active at the same time; TooManyActiveDoctors
   */
  async function save(
    clinic: ClinicId,
    changes: readonly DoctorChange[],
    extendChanges: (changes: Changeset, saved: readonly StoredDoctor[]) => Promise<void> | void = () => {},
  ): Promise<void> {
    const changeset = new Changeset(table, clinic)
    const isAdding = changes.some(({ before }) => !before)
    const { holidays, version } = isAdding ? await readHolidays(table, clinic) : NO_HOLIDAYS
    if (isAdding) changeset.requireVersion(holidaysKey(clinic), version)
    const saved = changes.map(({ before, after }) =>
      addDoctor(changeset, {
        before,
        after: before || holidays.length === 0 ? after : { ...after, holidays },
      }),
    )
    if (changes.some((change) => activeDoctorsAdded(change) > 0)) await limitActive(changeset, changes)
    await addToCount(
      table,
      changeset,
      doctorsPartition(clinic),
      changes.filter(({ before }) => !before).length,
    )
    await extendChanges(changeset, saved)
    await changeset.commit()
  }

  /** Requires that no other transaction adds active doctors at the same time. @throws TooManyActiveDoctors */
  async function limitActive(changeset: Changeset, changes: readonly DoctorChange[]): Promise<void> {
    const { clinic } = changeset
    const versionKey = catalogueVersionKey(clinic, doctorsPartition(clinic))
    // First, so that it is at most as new as the list.
    const version = (await table.get(versionKey))?.v
    const active = (await list(clinic)).filter(({ isActive }) => isActive).length
    const added = changes.reduce((sum, change) => sum + activeDoctorsAdded(change), 0)
    if (active + added > MAX_ACTIVE_DOCTORS) throw new TooManyActiveDoctors()
    changeset.add(versionKey, 'n', 1)
    changeset.expectVersion(versionKey, version ?? 0)
  }

  return { find, findMany, list, save }
}

/** Adds a doctor to a transaction, and returns the doctor as it is then stored. */
export function addDoctor(changes: Changeset, { before, after }: DoctorChange): StoredDoctor {
  const { id, externalId, imported, isLinkedByApi, timeOff, events: earlier = 0, ...doctor } = after
  const condition = before ? { version: before.version } : 'new'
  const updatedAt = changes.timeOfChange(null)
  const version = (before?.version ?? 0) + 1
  const isChanged = !before || !isDeepStrictEqual(eventFields(before), eventFields(after))
  const hasEvent = changes.emitsEvents && isChanged
  const events = (before?.events ?? earlier) + (hasEvent ? 1 : 0)
  if (hasEvent) changes.announce(id, events, doctorEventDraft(before, after))
  changes.put(
    {
      ...doctorKey(changes.clinic, id),
      ...doctor,
      ...timeOffAttributes(timeOff),
      ...provenanceAttributes({ externalId, imported, isLinkedByApi }),
      ...(events > 0 && { ev: events }),
      updatedAt,
      v: version,
    },
    condition,
  )
  if (before && before.fullName !== after.fullName) changes.markStale(doctorOwner(id))
  return { ...after, updatedAt, version, ...(events > 0 && { events }) }
}

/** What makes an event of a doctor when it changes. The clinic has the event of a change of its holidays. */
const eventFields = ({ fullName, specialty, departmentId, isActive, ...times }: Doctor) => {
  const { hours, breaks, timeOff, exceptions } = times
  return { fullName, specialty, departmentId, isActive, hours, breaks, timeOff, exceptions }
}

/** Parts of days have an attribute of their own: earlier releases, which do not know it, would take them for days off. */
function timeOffAttributes(timeOff: Doctor['timeOff']) {
  const blocks = timeOff.flatMap(({ from, times, reason }) =>
    times ? [{ date: from, ...times, reason }] : [],
  )
  return { timeOff: timeOff.filter(({ times }) => !times), ...(blocks.length > 0 && { blocks }) }
}

type Block = Window & { readonly date: string; readonly reason: string | null }

/** Where an imported holiday comes from, and the days that it had then. It may have been removed since. */
export type HolidayImport = Provenance & Pick<TimeOff, 'from' | 'to'>

/** A clinic's holidays, ascending, the imported ones by id, and the version of the item; null if there is none. */
export type Holidays = {
  readonly holidays: readonly TimeOff[]
  readonly imports: Readonly<Record<string, HolidayImport>>
  readonly version: number | null
}

const HOLIDAY_ATTRIBUTES = new Set(['pk', 'sk', 'days', 'imports', 'v'])

const NO_HOLIDAYS: Holidays = { holidays: [], imports: {}, version: null }

export async function readHolidays(table: Table, clinic: ClinicId): Promise<Holidays> {
  const item = await table.get(holidaysKey(clinic))
  return item ? toHolidays(item) : NO_HOLIDAYS
}

/** @throws UnreadableRecord */
export const toHolidays = (item: Item): Holidays =>
  readRecord(item, 'with its holidays', () => {
    const { days, imports = {}, v } = item as Item & { days: TimeOff[]; imports?: Holidays['imports'] }
    requireList(days, TIME_OFF)
    requireList(valuesOf(imports), HOLIDAY_IMPORT)
    return { holidays: days, imports, version: v ?? 0, ...unknownAttributes(item, HOLIDAY_ATTRIBUTES) }
  })

/** @throws UnreadableRecord for a doctor without what bookings need */
export const toDoctor = (item: Item): StoredDoctor =>
  readRecord(item, item.sk, () => {
    const { pk, sk, v, xi, im, xl, ev, departmentId, blocks = [], ...stored } = item
    const doctor = stored as WithUpdatedAt<Omit<Doctor, 'id' | 'departmentId'>>
    requireTypes(item, DOCTOR)
    for (const days of [doctor.hours, doctor.breaks, doctor.exceptions])
      for (const windows of valuesOf(days)) requireList(windows, WINDOW)
    for (const times of [doctor.timeOff, doctor.holidays ?? []]) requireList(times, TIME_OFF)
    requireList(blocks as Block[], BLOCK)
    return {
      ...doctor,
      id: sk,
      // Doctors that were stored before departments existed have none.
      departmentId: (departmentId ?? null) as Doctor['departmentId'],
      timeOff: [
        ...doctor.timeOff,
        ...(blocks as Block[]).map(({ date, reason, ...times }) => ({ from: date, to: date, times, reason })),
      ],
      version: number('v').decode(v),
      ...(ev !== undefined && { events: ev }),
      ...provenanceOfItem(item),
    }
  })

/** What bookings and responses rely on, in the form in which it is stored. */
const DOCTOR = [
  text('fullName'),
  flag('isActive'),
  ...['specialty', 'departmentId', 'updatedAt'].map(optionalText),
]
const WINDOW = ['start', 'end'].map(text)
const TIME_OFF = [...['from', 'to'].map(text), optionalText('reason')]
const BLOCK = [...WINDOW, text('date'), optionalText('reason')]
const HOLIDAY_IMPORT = [...['from', 'to'].map(text), ...['externalId', 'imported'].map(optionalText)]

/** @throws TypeError for what is not a list of objects with these attributes */
function requireList(values: readonly object[], attributes: Parameters<typeof requireTypes>[1]): void {
  if (!Array.isArray(values)) throw new TypeError('an attribute is not a list')
  for (const value of values) requireTypes(value, attributes)
}

/** @throws TypeError for what is no map */
function valuesOf<Value>(map: Readonly<Record<string, Value>>): Value[] {
  if (typeof map !== 'object' || Array.isArray(map)) throw new TypeError('an attribute is not a map')
  return Object.values(map)
}
