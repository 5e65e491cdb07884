import {
  type Hold,
  type HoldRequest,
  type HoldVerdict,
  MAX_HOLD_SECONDS,
  MAX_HOLDS,
} from '../../domain/booking/hold.ts'
import type { PlacementFacts } from '../../domain/booking/placement.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { doctorDayKey, holdKey, holdListKey, roomDayKey } from '../keys/calendar.ts'
import { type Key, longId, SHORT_ID_LENGTH, shortId, TTL } from '../keys/key.ts'
import { type AttributeMap, instant, object, optional, recordCodec, text } from '../table/attributes.ts'
import { Changeset } from '../table/changeset.ts'
import type { RequestedWrite } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import { isTaken, type TakenOutcome } from './booking.ts'
import { findDay, type HeldTime, hasHold, requireDay, withoutHold } from './busy-days.ts'
import { factsOf, placementStore } from './placements.ts'
import { CATALOGUE_REFERENCE } from './references.ts'

export const HOLD = recordCodec<Hold>({
  credential: text('k'),
  doctor: { id: text('d'), fullName: text('dn') },
  date: text('on'),
  startTime: text('b'),
  endTime: text('e'),
  room: optional(object('rm', CATALOGUE_REFERENCE)),
  expiresAt: instant('x'),
  createdAt: instant('c'),
} satisfies AttributeMap<Omit<Hold, 'id'>>)

/** From so many holds of a credential on, one is made at a time. Fewer are made side by side: those in flight do not reach the limit. */
const ONE_AT_A_TIME = MAX_HOLDS / 2

/** The outcomes whose response is stored under the idempotency key. */
export type StoredHoldOutcome = Extract<HoldVerdict, { kind: 'held' }> | TakenOutcome

export type HoldOutcome =
  | Exclude<HoldVerdict, { kind: TakenOutcome['kind'] | 'held' }>
  | StoredHoldOutcome
  /** `until` is when the first of them expires, in seconds since the epoch. */
  | { readonly kind: 'too_many'; readonly until: number }

/** Holds: their own items, and their time in the days of doctor and room, by which bookings go. */
export function holdStore({ table, now }: { table: Table; now: () => number }) {
  const placements = placementStore({ table, now })

  /**
   * Reads the facts, calls `decide` with them, and writes its decision under the conditions of a booking.
   * @throws UnavailableError when other writers of the day or of the credential's list win every time; RequestCompleted
   */
  async function create(
    clinic: ClinicId,
    request: HoldRequest,
    decide: (facts: PlacementFacts) => HoldVerdict,
    write: RequestedWrite<StoredHoldOutcome>,
  ): Promise<HoldOutcome> {
    const listKey = holdListKey(clinic, request.credential)
    return retryOnConflict(async (): Promise<HoldOutcome> => {
      const [stored, list] = await Promise.all([
        placements.read(clinic, request),
        table.get(listKey),
        write.requireNew(),
      ])
      const verdict = decide(factsOf(stored, [request.id]))
      if (verdict.kind !== 'held' && !isTaken(verdict)) return verdict
      const changes = new Changeset(table, clinic)
      let outcome: StoredHoldOutcome
      if (isTaken(verdict)) {
        const alternatives = await placements.alternatives(clinic, request, stored, request)
        outcome = { ...verdict, alternatives }
      } else {
        // An earlier attempt was committed after all, although its response was lost.
        if (hasHold(stored.day, request.id)) return verdict
        outcome = verdict
        const { hold } = verdict
        const until = Date.parse(hold.expiresAt) / 1000
        const others = await unended(clinic, list)
        const expiries = [...others.values(), until]
        if (expiries.length > MAX_HOLDS) return { kind: 'too_many', until: Math.min(...expiries) }
        const time: HeldTime = { id: shortId(hold.id), from: hold.startTime, to: hold.endTime, until }
        placements.requireUnchanged(changes, request, stored, (holds) => [...holds, time])
        changes.put({ ...holdKey(clinic, hold.id), ...HOLD.encode(hold), [TTL]: until })
        if (expiries.length > ONE_AT_A_TIME) changes.expectVersion(listKey, list?.v ?? 0)
        for (const id of listed(list).keys()) if (!others.has(id)) changes.set(listKey, id, undefined)
        changes.set(listKey, time.id, until)
        // Later than any of them, also of those that are made at the same time.
        changes.set(listKey, TTL, Math.floor(now() / 1000) + 2 * MAX_HOLD_SECONDS)
      }
      write.store(changes, outcome, '')
      await changes.commit()
      return outcome
    })
  }

  /**
   * The holds of a credential's list that have not ended. The end of a hold does not change the list, which is why those of a full list
   * are looked up.
   */
  async function unended(clinic: ClinicId, list: Item | undefined): Promise<Map<string, number>> {
    const unexpired = [...listed(list)].filter(([, expiry]) => expiry * 1000 > now())
    if (unexpired.length < MAX_HOLDS) return new Map(unexpired)
    const items = await table.getMany(unexpired.map(([id]) => holdKey(clinic, longId(id))))
    const existing = new Set(items.map(({ sk }) => shortId(sk)))
    return new Map(unexpired.filter(([id]) => existing.has(id)))
  }

  /** A hold of the credential, which may have expired. */
  async function find(clinic: ClinicId, credential: string, id: string): Promise<Hold | null> {
    const item = await table.get(holdKey(clinic, id))
    const hold = item && HOLD.decode(item, id)
    return hold?.credential === credential ? hold : null
  }

  /** Ends a hold of the credential, also one that has expired. Returns false if there is none. */
  async function remove(clinic: ClinicId, credential: string, id: string): Promise<boolean> {
    return retryOnConflict(async () => {
      const hold = await find(clinic, credential, id)
      if (!hold) return false
      const changes = new Changeset(table, clinic)
      changes.remove(holdKey(clinic, id))
      const end = async (key: Key) =>
        requireDay(changes, key, await findDay(table, key, now()), withoutHold(id))
      await Promise.all(dayKeys(clinic, hold).map(end))
      await changes.commit()
      return true
    })
  }

  return { create, find, remove }
}

/** The expiry of each hold of a credential's list, in seconds since the epoch, by their short ids. */
const listed = (list: Item | undefined): Map<string, number> =>
  new Map(
    Object.entries((list ?? {}) as Record<string, number>).filter(
      ([name]) => name.length === SHORT_ID_LENGTH,
    ),
  )

/** The days of the doctor and the room that contain the time of a hold. */
export const dayKeys = (clinic: ClinicId, { doctor, room, date }: Hold): Key[] => [
  doctorDayKey(clinic, doctor.id, date),
  ...(room ? [roomDayKey(clinic, room.id, date)] : []),
]
