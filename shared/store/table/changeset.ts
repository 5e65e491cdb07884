import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../domain/clinic.ts'
import type { EventDraft } from '../../domain/event.ts'
import { newUuid } from '../../domain/uuid.ts'
import { staleCopiesKey } from '../keys/copies.ts'
import { announcedKey } from '../keys/events.ts'
import type { Key } from '../keys/key.ts'
import { type Item, MAX_TRANSACTION_ITEMS, type Table, type Write } from './table.ts'

/** What one item is to become. Several changes of one item are merged, since a transaction takes each item once. */
type ItemUpdate = {
  readonly key: Key
  readonly add: Map<string, number>
  readonly set: Map<string, unknown>
  /** The version it must have; 0 for an item that must not be there; undefined for any. */
  expectedVersion?: number
  /** What a counter must be less than before it is added to. */
  counterLimit?: { readonly attribute: string; readonly limit: number }
}

/** When an item may be put: if there is none, as it was read, or when the one there has expired. */
type PutCondition =
  | 'new'
  | { readonly version: number }
  | { readonly attribute: string; readonly equals: unknown }
  | { readonly expiryAttribute: string; readonly expiredAt: number }

/** One clinic's writes, gathered to be made all together or not at all. */
export class Changeset {
  readonly clinic: ClinicId
  readonly #table: Table
  readonly #writes = new Map<string, Write>()
  readonly updates = new Map<string, ItemUpdate>()

  constructor(table: Table, clinic: ClinicId) {
    this.#table = table
    this.clinic = clinic
  }

  /** Items that the transaction has so far. */
  get size(): number {
    return this.#writes.size + this.updates.size
  }

  put(item: Item, condition?: PutCondition): void {
    const write = this.#table.putWrite(item, condition === 'new' ? 'new' : 'any')
    if (typeof condition === 'object') Object.assign(write.Put as object, toConditionExpression(condition))
    this.#writes.set(keyString(item), write)
  }

  remove(key: Key): void {
    this.#writes.set(keyString(key), this.#table.deleteWrite(key))
  }

  /** Moves an item that is nothing but its key, if it is to stand elsewhere; null is nowhere. */
  move(from: Key | null, to: Key | null): void {
    if (isDeepStrictEqual(from, to)) return
    if (from) this.remove(from)
    if (to) this.put(to)
  }

  /** Removes an item that must be there. */
  removeExisting(key: Key): void {
    this.#writes.set(keyString(key), this.#table.deleteWrite(key, 'existing'))
  }

  /** Notes that copies of somebody's name are to be brought up to date (fan-out.ts). */
  markStale(owner: string): void {
    this.add(staleCopiesKey(this.clinic, owner), 'owed', 1)
  }

  /** Whether changes make events: a bulk import's do not, unless it is asked to. */
  get emitsEvents(): boolean {
    return this.#table.emitsEvents
  }

  /** Announces what happened to a record, in the record's own transaction (event-fan-out.ts takes it from there). */
  announce(record: string, sequence: number, { event, data }: EventDraft): void {
    const key = announcedKey(this.clinic, record, sequence)
    this.put({ ...key, i: newUuid(), e: event, d: data, c: Date.now() }, 'new')
  }

  /** The whole transaction depends on an item's version. */
  requireVersion(key: Key, version: number): void {
    this.#writes.set(keyString(key), this.#table.checkWrite(key, version))
  }

  /** Adds to a counter of an item, and counts the change in its version. */
  add(key: Key, attribute: string, by: number): void {
    const { add } = this.updateFor(key)
    add.set(attribute, (add.get(attribute) ?? 0) + by)
  }

  /** Sets an attribute of an item that others change too; undefined removes it. */
  set(key: Key, attribute: string, value: unknown): void {
    this.updateFor(key).set.set(attribute, value)
  }

  /** Holds the transaction to a counted item's being as it was read: of this version, or not there (0). */
  expectVersion(key: Key, version: number): void {
    this.updateFor(key).expectedVersion = version
  }

  /** Holds the transaction to a counter's being less than `limit` before. */
  limitCounter(key: Key, attribute: string, limit: number): void {
    this.updateFor(key).counterLimit = { attribute, limit }
  }

  /** Adds what `other` has: false, and nothing added, when the two cannot be one transaction. */
  merge(other: Changeset): boolean {
    const both = (mine: Map<string, unknown>, theirs: Map<string, unknown>) =>
      new Set([...mine.keys(), ...theirs.keys()]).size
    const size = both(this.#writes, other.#writes) + both(this.updates, other.updates)
    if (
      size > MAX_TRANSACTION_ITEMS ||
      [...other.#writes].some(([name, write]) => this.conflictsWith(name, write))
    )
      return false
    for (const [name, write] of other.#writes) this.#writes.set(name, write)
    for (const { key, add, set, expectedVersion, counterLimit } of other.updates.values()) {
      if (expectedVersion !== undefined) this.expectVersion(key, expectedVersion)
      if (counterLimit) this.limitCounter(key, counterLimit.attribute, counterLimit.limit)
      for (const [attribute, by] of add) this.add(key, attribute, by)
      for (const [attribute, value] of set) this.set(key, attribute, value)
    }
    return true
  }

  /** Whether a write is of an item that this changes already: only equal requirements of an item go together. */
  conflictsWith(name: string, write: Write): boolean {
    const known = this.#writes.get(name)
    return known !== undefined && !(known.ConditionCheck && isDeepStrictEqual(known, write))
  }

  /** The transaction's writes. */
  writes(): Write[] {
    return [
      ...this.#writes.values(),
      ...[...this.updates.values()].flatMap((counters) => this.toWrites(counters)),
    ]
  }

  /** @throws ConditionFailed when a record was changed since it was read */
  async commit(): Promise<void> {
    const writes = this.writes()
    if (writes.length > 0) await this.#table.transact(writes)
  }

  updateFor(key: Key): ItemUpdate {
    const known = this.updates.get(keyString(key))
    if (known) return known
    const counters = { key: { pk: key.pk, sk: key.sk }, add: new Map(), set: new Map() }
    this.updates.set(keyString(key), counters)
    return counters
  }

  toWrites({ key, add, set, expectedVersion, counterLimit }: ItemUpdate): Write[] {
    const changed = [...add].filter(([, by]) => by !== 0)
    if (changed.length === 0 && set.size === 0 && expectedVersion === undefined) return []
    const names: Record<string, string> = { '#v': 'v' }
    const values: Record<string, unknown> = {
      ':one': 1,
      ...(expectedVersion && { ':expected': expectedVersion }),
    }
    const named = (attribute: string, value?: unknown): [name: string, value: string] => {
      const at = Object.keys(names).length
      names[`#${at}`] = attribute
      if (value !== undefined) values[`:${at}`] = value
      return [`#${at}`, `:${at}`]
    }
    const adds = ['#v :one', ...changed.map(([attribute, by]) => named(attribute, by).join(' '))]
    const given = [...set].filter(([, value]) => value !== undefined)
    const sets = given.map(([attribute, value]) => named(attribute, value).join(' = '))
    const removes = [...set]
      .filter(([, value]) => value === undefined)
      .map(([attribute]) => named(attribute)[0])
    const [limitedName, limitValue] = counterLimit ? named(counterLimit.attribute, counterLimit.limit) : []
    const UpdateExpression = [
      `ADD ${adds.join(', ')}`,
      ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
      ...(removes.length > 0 ? [`REMOVE ${removes.join(', ')}`] : []),
    ].join(' ')
    return [
      this.#table.updateWrite(key, {
        UpdateExpression,
        ...(expectedVersion === 0 && { ConditionExpression: 'attribute_not_exists(pk)' }),
        ...(expectedVersion && { ConditionExpression: '#v = :expected' }),
        ...(counterLimit && {
          ConditionExpression: `attribute_not_exists(${limitedName}) OR ${limitedName} < ${limitValue}`,
        }),
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
      }),
    ]
  }
}

function toConditionExpression(condition: Exclude<PutCondition, 'new'>) {
  if ('version' in condition)
    return { ConditionExpression: 'v = :read', ExpressionAttributeValues: { ':read': condition.version } }
  if ('equals' in condition)
    return {
      ConditionExpression: '#attribute = :equals',
      ExpressionAttributeNames: { '#attribute': condition.attribute },
      ExpressionAttributeValues: { ':equals': condition.equals },
    }
  return {
    ConditionExpression: 'attribute_not_exists(pk) OR #expiry <= :now',
    ExpressionAttributeNames: { '#expiry': condition.expiryAttribute },
    ExpressionAttributeValues: { ':now': condition.expiredAt },
  }
}

const keyString = ({ pk, sk }: Key): string => `${pk} ${sk}`
