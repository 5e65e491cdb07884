/** Decides what a restore of one clinic does with each record that differs from the copy of an earlier time. Writes nothing. */
import { isDeepStrictEqual } from 'node:util'
import { type Appointment, occupiesSlot } from '../../../domain/booking/appointment.ts'
import type { ClinicId } from '../../../domain/clinic.ts'
import { type Interval, overlaps, parseTime } from '../../../domain/interval.ts'
import { keysOf } from '../../../domain/keys-of.ts'
import { APPOINTMENTS, busyDayKeys } from '../../../store/calendar/appointments.ts'
import { appointmentTimes } from '../../../store/calendar/busy-days.ts'
import { clinicStore } from '../../../store/clinics.ts'
import { erasureLedger } from '../../../store/copies/erasure-ledger.ts'
import { readHolidays } from '../../../store/doctors.ts'
import { externalIds, isLinkable } from '../../../store/external-ids/links.ts'
import { invoiceNumberPartition, ownerPartition } from '../../../store/keys/calendar.ts'
import { longId } from '../../../store/keys/key.ts'
import { VISIBILITY_DELAY_MS } from '../../../store/table/visibility-delay.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { UnfinishedErasure } from '../reconcile.ts'
import {
  type ClinicTables,
  type DifferingRecord,
  differingRecords,
  patientOf,
  RESTORED_KINDS,
  type RecordName,
} from './comparison.ts'
import { compareErased } from './replayed-erasures.ts'

/**
 * A record that keeps its present state, because another one that stays has its former time or room, external id or number, or because one
 * that it referred to does not exist and is not created again.
 */
export type Conflict = RecordName & {
  readonly reason: 'time_taken' | 'external_id_taken' | 'number_taken' | 'reference_missing'
  readonly by: string
}

/** Why a record that was created since is not removed. `in_use`: a record that stays refers to it. */
export type StayReason = 'not_asked_for' | 'not_named' | 'erased' | 'has_messages' | 'in_use'

export type StayingRecord = RecordName & { readonly reason: StayReason }

export type RestorePlan = {
  /** Records that are put back, in the order of their kinds. Some do not exist now. */
  readonly changed: readonly DifferingRecord[]
  readonly areHolidaysChanged: boolean
  /** The invoices of payments that differ: their balance can differ although nothing else of them does. */
  readonly invoices: readonly string[]
  readonly removed: readonly DifferingRecord[]
  readonly conflicts: readonly Conflict[]
  /** Records that were created since, and stay. */
  readonly staying: readonly StayingRecord[]
  /** The names of settings that differ. They stay as they are. */
  readonly settings: readonly string[]
}

export type PlanOptions = {
  /** The time that is restored, an ISO 8601 instant. */
  readonly to: string
  /** Whether records that were created since are removed. */
  readonly removeCreated: boolean
  /** The appointments that are removed although no import made them. */
  readonly appointments: ReadonlySet<string>
  /** The only records that may be removed: those that the operator has seen. */
  readonly removable?: ReadonlySet<string>
  /** Called with the number of records that were compared. */
  readonly onCompared?: (count: number) => void
}

/**
 * Compares all records of a clinic, and decides.
 * @throws CopyIsNewer; UnfinishedErasure
 */
export async function planRestore(
  tables: ClinicTables,
  clinic: ClinicId,
  options: PlanOptions,
): Promise<RestorePlan> {
  const ledger = await erasureLedger({ table: tables.table }).list(clinic)
  const unfinished = ledger.find(({ isFinished }) => !isFinished)
  if (unfinished) throw new UnfinishedErasure(clinic, unfinished.patient)
  const erased = new Set(ledger.map(({ patient }) => patient))
  const until = Date.parse(options.to) + VISIBILITY_DELAY_MS
  const differing: DifferingRecord[] = []
  let compared = 0
  const onCompared = () => options.onCompared?.(++compared)
  for (const kind of RESTORED_KINDS)
    differing.push(...(await differingRecords(tables, clinic, kind, until, onCompared)))
  const created = differing.filter(({ then }) => !then)
  const existing = differing.filter(({ then }) => then)
  const isOfErased = (record: DifferingRecord) => erased.has(patientOf(record, record.then))
  const replayed = await compareErased(tables, clinic, existing.filter(isOfErased))
  const others = existing.filter((record) => !isOfErased(record))
  const changed = [...others, ...replayed.changed].sort(byKind)
  const decision = await decide(
    tables,
    clinic,
    { created, changed, kept: replayed.kept, missing: replayed.missing },
    { ...options, erased },
  )
  return {
    ...decision,
    invoices: invoicesOfPayments(differing).filter((id) => !decision.conflicts.some((one) => one.id === id)),
    areHolidaysChanged: await haveHolidaysChanged(tables, clinic),
    settings: await differingSettings(tables, clinic),
  }
}

const byKind = (a: RecordName, b: RecordName): number =>
  RESTORED_KINDS.indexOf(a.kind) - RESTORED_KINDS.indexOf(b.kind)

type Differing = {
  readonly created: readonly DifferingRecord[]
  readonly changed: readonly DifferingRecord[]
  /** Records that keep their present state. */
  readonly kept: readonly DifferingRecord[]
  /** The ids of records that do not exist now, and are not created again. */
  readonly missing: ReadonlySet<string>
}

type Rules = PlanOptions & { readonly erased: ReadonlySet<string> }

/** Decides until nothing changes: a record that stays can be in the way of others, or refer to them. */
async function decide(tables: ClinicTables, clinic: ClinicId, differing: Differing, rules: Rules) {
  const { created, changed, kept } = differing
  const staying = new Map<string, StayingRecord>()
  const conflicts = new Map<string, Conflict>()
  /** The ids that occur in records that keep their present state. */
  const references = new Set<string>()
  const keep = (item: Item | undefined) => {
    for (const id of idsIn(item)) references.add(id)
  }
  for (const { now } of kept) keep(now)
  /** Records that do not exist afterwards, so that none that refers to them can be put back. */
  const missing = new Set(differing.missing)
  const reasonToStay = reasonFinder(tables, clinic, rules)
  await forEachConcurrent(created, async (record) => {
    const reason = await reasonToStay(record)
    if (!reason) return
    staying.set(record.id, { kind: record.kind, id: record.id, reason })
    keep(record.now)
  })
  const conflictOf = conflictFinder(tables, clinic, missing)
  for (let decided = -1; decided < staying.size + conflicts.size; ) {
    decided = staying.size + conflicts.size
    for (const { kind, id, now } of created) {
      if (staying.has(id) || !references.has(id)) continue
      staying.set(id, { kind, id, reason: 'in_use' })
      keep(now)
    }
    const isInTheWay = (id: string) => staying.has(id) || conflicts.has(id)
    for (const record of changed) {
      const conflict = conflicts.has(record.id) ? null : await conflictOf(record, isInTheWay)
      if (!conflict) continue
      conflicts.set(record.id, conflict)
      keep(record.now)
      if (!record.now) missing.add(record.id)
    }
  }
  return {
    changed: changed.filter(({ id }) => !conflicts.has(id)),
    removed: created.filter(({ id }) => !staying.has(id)),
    conflicts: [...conflicts.values()],
    staying: [...staying.values()],
  }
}

/** Finds out why a record that was created since stays, whatever else does; null if it may be removed. */
function reasonFinder({ table }: ClinicTables, clinic: ClinicId, rules: Rules) {
  const { removeCreated, appointments, removable, erased } = rules
  const external = externalIds({ table })

  /** Whether the id of an appointment follows from its external id, which is so for imports alone. */
  async function wasImported(id: string, externalId: unknown): Promise<boolean> {
    if (typeof externalId !== 'string') return false
    return (await external.linkOf(clinic, 'appointment', { id, externalId })) === null
  }

  return async (record: DifferingRecord): Promise<StayReason | null> => {
    const { kind, id, now } = record
    if (!removeCreated || !(removable?.has(id) ?? true)) return 'not_asked_for'
    if (erased.has(patientOf(record, now))) return 'erased'
    if (kind === 'appointment')
      return appointments.has(id) || (await wasImported(id, now?.xi)) ? null : 'not_named'
    if (kind !== 'patient') return null
    const messages = await table.query({ pk: ownerPartition(clinic, 'M', 'patient', id), limit: 1 })
    return messages.length > 0 ? 'has_messages' : null
  }
}

/** Finds out whether the former state of a record is impossible now. `isInTheWay` says which records keep their present state. */
function conflictFinder({ table }: ClinicTables, clinic: ClinicId, missing: ReadonlySet<string>) {
  const external = externalIds({ table })
  type InTheWay = (id: string) => boolean

  async function takenTime({ now, then, id }: DifferingRecord, isInTheWay: InTheWay): Promise<string | null> {
    const before = now && APPOINTMENTS.decode(now, id)
    const after = then && APPOINTMENTS.decode(then, id)
    if (!after || !occupiesSlot(after.status)) return null
    if (before && isDeepStrictEqual(occupied(before), occupied(after))) return null
    const time: Interval = { from: parseTime(after.startTime), to: parseTime(after.endTime) }
    for (const day of await table.getMany(busyDayKeys(clinic, after)))
      for (const [short, other] of appointmentTimes(day)) {
        const by = longId(short)
        if (by !== id && isInTheWay(by) && overlaps(time, other)) return by
      }
    return null
  }

  async function takenExternalId(
    { kind, id, now, then }: DifferingRecord,
    isInTheWay: InTheWay,
  ): Promise<string | null> {
    const externalId = then?.xi
    if (externalId === undefined || externalId === now?.xi || !isLinkable(kind)) return null
    const holder = await external.find(clinic, kind, externalId)
    return holder !== null && holder !== id && isInTheWay(holder) ? holder : null
  }

  /** An invoice keeps its present number if another one has the former, and so do its payments. */
  async function takenNumber(
    { kind, id, now, then }: DifferingRecord,
    isInTheWay: InTheWay,
  ): Promise<string | null> {
    if (then?.no === undefined || then.no === now?.no) return null
    const pk = invoiceNumberPartition(clinic, String(then.no))
    const others =
      kind === 'invoice' ? (await table.query({ pk, limit: 100 })).map(({ sk }) => sk) : idsIn(then)
    return others.find((other) => other !== id && isInTheWay(other)) ?? null
  }

  return async (record: DifferingRecord, isInTheWay: InTheWay): Promise<Conflict | null> => {
    const { kind, id, then } = record
    const reference = idsIn(then).find((one) => one !== id && missing.has(one))
    if (reference !== undefined) return { kind, id, reason: 'reference_missing', by: reference }
    const taken = kind === 'appointment' ? await takenTime(record, isInTheWay) : null
    if (taken !== null) return { kind, id, reason: 'time_taken', by: taken }
    const by = await takenExternalId(record, isInTheWay)
    if (by !== null) return { kind, id, reason: 'external_id_taken', by }
    const holder = await takenNumber(record, isInTheWay)
    return holder === null ? null : { kind, id, reason: 'number_taken', by: holder }
  }
}

/** What a booking of an appointment occupies. */
const occupied = ({ date, startTime, endTime, doctor, room, status }: Appointment) => [
  date,
  startTime,
  endTime,
  doctor.id,
  room?.id,
  occupiesSlot(status),
]

const invoicesOfPayments = (records: readonly DifferingRecord[]): string[] => {
  const payments = records.filter(({ kind }) => kind === 'payment')
  return [
    ...new Set(payments.flatMap(({ now, then }) => [now?.i, then?.i].filter((id) => typeof id === 'string'))),
  ]
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

const idsIn = (item: Item | undefined): readonly string[] => JSON.stringify(item ?? null).match(ID) ?? []

async function haveHolidaysChanged({ table, copy }: ClinicTables, clinic: ClinicId): Promise<boolean> {
  const [now, then] = await Promise.all(
    [table, copy].map(async (one) => {
      const { holidays, imports } = await readHolidays(one, clinic)
      // As of other records, what an import has noted of its row is no change.
      const origins = Object.entries(imports).map(([id, { imported: _, ...origin }]) => [id, origin])
      return [holidays, Object.fromEntries(origins)]
    }),
  )
  return !isDeepStrictEqual(now, then)
}

/** What an operator changes, and pauses and restores. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  ...['pausedAt', 'pauseInEffectAt', 'replacement', 'restoring', 'restores', 'recipientSecret', 'version'],
])

async function differingSettings({ table, copy }: ClinicTables, clinic: ClinicId): Promise<string[]> {
  const [now, then] = await Promise.all([table, copy].map((one) => clinicStore({ table: one }).find(clinic)))
  const names = keysOf({ ...now, ...then })
  return names.filter((name) => !NOT_COMPARED.has(name) && !isDeepStrictEqual(now?.[name], then?.[name]))
}
