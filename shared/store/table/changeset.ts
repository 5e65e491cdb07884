import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../domain/clinic.ts'
import { type ClinicPart, clinicEventDraft, type EventDraft } from '../../domain/webhooks/event.ts'
import { dueRefreshKey, REFRESH_SWEEP_DELAY_MS, staleCopiesKey } from '../keys/copies.ts'
import { announcedKey } from '../keys/events.ts'
import { type Key, keyText } from '../keys/key.ts'
import { WriteConflict } from './errors.ts'
import { haveConflicts, type ItemUpdate, toUpdateParts } from './item-update.ts'
import { currentScope } from './request-scope.ts'
import { MAX_TRANSACTION_ITEMS, type Table } from './table.ts'
import { MAX_CHANGE_AGE_MS } from './visibility-delay.ts'
import type { DeleteCondition, Item, PutCondition, Write } from './write-requests.ts'

/** DynamoDB's limit of a transaction is 4 MB. The rest is a margin for items that are larger than estimated. */
const MAX_TRANSACTION_BYTES = 3_500_000

/** An item that is updated counts as a whole, and its size is not known. More than a tally or a doctor's day has. */
const UPDATED_ITEM_BYTES = 4000

/** Collects the writes of one clinic that are committed together or not at all. */
export class Changeset {
  readonly clinic: ClinicId
  /** Whether changes emit events: changes of a bulk import do only on request. */
  readonly emitsEvents: boolean
  readonly #table: Table
  readonly #writes = new Map<string, Write>()
  readonly #updates = new Map<string, ItemUpdate>()
  /** The time of the oldest change, in milliseconds since the epoch. */
  #oldestChange = Number.POSITIVE_INFINITY

  constructor(table: Table, clinic: ClinicId) {
    this.#table = table
    this.clinic = clinic
    this.emitsEvents = table.emitsEvents
  }

  /** The number of items in the transaction so far. */
  get size(): number {
    return this.#writes.size + this.#updates.size
  }

  /** The estimated size of the transaction. */
  get #bytes(): number {
    const bytes = [...this.#writes.values()].reduce((sum, write) => sum + writeBytes(write), 0)
    return bytes + this.#updates.size * UPDATED_ITEM_BYTES
  }

  put(item: Item, condition?: PutCondition): void {
    this.#writes.set(keyText(item), this.#table.putWrite(item, condition))
  }

  remove(key: Key, condition?: DeleteCondition): void {
    this.#writes.set(keyText(key), this.#table.deleteWrite(key, condition))
  }

  /** Moves an item that consists of its key alone; null means that the item did not exist before, or does not exist after. */
  move(from: Key | null, to: Key | null): void {
    if (isDeepStrictEqual(from, to)) return
    if (from) this.remove(from)
    if (to) this.put(to)
  }

  /**
   * The time of a change, which becomes the `updatedAt` of its record. Readers of changes rely on the commit within
   * `VISIBILITY_DELAY_MS` of it. It is now, or the creation of a new record if that was just now.
   * @param createdAt of a new record; null for a change
   */
  timeOfChange(createdAt: string | null): string {
    const now = this.#table.now()
    const created = createdAt === null ? Number.NaN : Date.parse(createdAt)
    const time = now - MAX_CHANGE_AGE_MS < created && created <= now ? created : now
    this.#oldestChange = Math.min(this.#oldestChange, time)
    return new Date(time).toISOString()
  }

  /** Checks the times of the {@link writes}, for callers that commit them without the changeset. @throws WriteConflict if they have to be built again */
  requireRecent(): void {
    if (this.#table.now() - this.#oldestChange > MAX_CHANGE_AGE_MS) throw new WriteConflict()
  }

  /** Marks the copies of a patient's or doctor's name as out of date, and lists them for a sweep (copies/copied-names.ts). */
  markStale(owner: string): void {
    const at = this.#table.now() + REFRESH_SWEEP_DELAY_MS
    this.set(staleCopiesKey(this.clinic, owner), 'at', at)
    this.put(dueRefreshKey({ clinic: this.clinic, owner, at }))
  }

  /** Announces an event of a record in the record's own transaction; events/fan-out.ts delivers it later. */
  announce(record: string, sequence: number, { event, data }: EventDraft): void {
    const key = announcedKey(this.clinic, record, sequence)
    const request = currentScope().requestId
    this.put(
      {
        ...key,
        i: this.#table.newId(),
        e: event,
        d: data,
        c: this.#table.now(),
        s: this.#table.source,
        ...(request !== undefined && { rq: request }),
      },
      'new',
    )
  }

  /** Announces a change of a part of the clinic, which has no sequence: each event is a record of its own. */
  announceClinic(changed: ClinicPart): void {
    if (this.emitsEvents) this.announce(this.#table.newId(), 1, clinicEventDraft(changed))
  }

  /** Requires an item that is not changed itself to have this version; null if it must not exist. */
  requireVersion(key: Key, version: number | null): void {
    this.#writes.set(keyText(key), this.#table.checkWrite(key, version))
  }

  /** Adds to a counter of an item, and increments the item's version. */
  add(key: Key, attribute: string, by: number): void {
    const { add } = this.#updateFor(key)
    add.set(attribute, (add.get(attribute) ?? 0) + by)
  }

  /** Sets one attribute of an item; undefined removes it. */
  set(key: Key, attribute: string, value: unknown): void {
    this.#updateFor(key).set.set(attribute, value)
  }

  /** Requires an updated item to have the version that was read; 0 if it must not exist. */
  expectVersion(key: Key, version: number): void {
    const update = this.#updateFor(key)
    if (update.expectedVersion !== undefined && update.expectedVersion !== version)
      throw new RangeError('an item cannot have two versions')
    update.expectedVersion = version
  }

  /** Requires a counter to be less than `limit` before it is added to. */
  limitCounter(key: Key, attribute: string, limit: number): void {
    this.#updateFor(key).counterLimit = { attribute, limit }
  }

  /**
   * Takes over the changes of `other`. Returns false, and changes nothing, when the two do not fit into one transaction,
   * or when a condition would be lost: what both decided on the same state of an item must not be written at once.
   */
  merge(other: Changeset): boolean {
    const both = (mine: Map<string, unknown>, theirs: Map<string, unknown>) =>
      new Set([...mine.keys(), ...theirs.keys()]).size
    const size = both(this.#writes, other.#writes) + both(this.#updates, other.#updates)
    const isTooLarge = this.size > 0 && this.#bytes + other.#bytes > MAX_TRANSACTION_BYTES
    const mine = { writes: this.#writes, updates: this.#updates }
    const theirs = { writes: other.#writes, updates: other.#updates }
    if (size > MAX_TRANSACTION_ITEMS || isTooLarge || haveConflicts(mine, theirs)) return false
    this.#oldestChange = Math.min(this.#oldestChange, other.#oldestChange)
    for (const [name, write] of other.#writes) this.#writes.set(name, write)
    for (const { key, add, set, expectedVersion, counterLimit } of other.#updates.values()) {
      if (expectedVersion !== undefined) this.expectVersion(key, expectedVersion)
      if (counterLimit) this.limitCounter(key, counterLimit.attribute, counterLimit.limit)
      for (const [attribute, by] of add) this.add(key, attribute, by)
      for (const [attribute, value] of set) this.set(key, attribute, value)
    }
    return true
  }

  /** The items that the transaction puts, and the attributes that it sets. */
  outcome() {
    const updates = [...this.#updates.values()]
    return {
      items: [...this.#writes.values()].flatMap(({ Put }) => (Put ? [Put.Item] : [])),
      attributes: updates.flatMap(({ key, set }) => [...set].map(([name, value]) => ({ key, name, value }))),
    }
  }

  /** The transaction's writes. */
  writes(): Write[] {
    const writes = [...this.#writes.values()]
    for (const update of this.#updates.values()) {
      const parts = toUpdateParts(update)
      if (parts) writes.push(this.#table.updateWrite(update.key, parts))
    }
    return writes
  }

  /**
   * Commits all changes or none, in one attempt: run it inside retryOnConflict, which reads and decides again.
   * @throws ConditionFailed when a record was changed since it was read; WriteConflict or Throttled
   */
  async commit(): Promise<void> {
    const writes = this.writes()
    if (writes.length === 0) return
    this.requireRecent()
    await this.#table.tryTransact(writes)
  }

  #updateFor(key: Key): ItemUpdate {
    const known = this.#updates.get(keyText(key))
    if (known) return known
    const { pk, sk } = key
    const update: ItemUpdate = { key: { pk, sk }, add: new Map(), set: new Map() }
    this.#updates.set(keyText(key), update)
    return update
  }
}

const sizes = new WeakMap<Write, number>()

/** The size of a put, deletion or check: as JSON, which takes more bytes than DynamoDB counts. */
function writeBytes(write: Write): number {
  const known = sizes.get(write)
  if (known !== undefined) return known
  const bytes = Buffer.byteLength(JSON.stringify(write))
  sizes.set(write, bytes)
  return bytes
}
