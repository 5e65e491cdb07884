import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../domain/clinic.ts'
import type { Happening } from '../../domain/event.ts'
import { newUuid } from '../../domain/uuid.ts'
import { fanOutKey } from '../keys/copies.ts'
import { announcedKey } from '../keys/events.ts'
import type { Key } from '../keys/key.ts'
import { type Item, type Table, TRANSACTION_ITEMS, type Write } from './table.ts'

/** What one item is to become. Several changes of one item are merged, since a transaction takes each item once. */
type Counters = {
  readonly key: Key
  readonly add: Map<string, number>
  readonly set: Map<string, unknown>
  /** The version it must have; 0 for an item that must not be there; undefined for any. */
  expected?: number
  /** What a counter must be less than before it is added to. */
  below?: { readonly attribute: string; readonly limit: number }
}

/** When an item may be put: if there is none, as it was read, or when the one there has expired. */
type PutCondition =
  | 'new'
  | { readonly version: number }
  | { readonly attribute: string; readonly equals: unknown }
  | { readonly unless: string; readonly after: number }

/** One clinic's writes, gathered to be made all together or not at all. */
export class Changeset {
  readonly clinic: ClinicId
  readonly #table: Table
  readonly #writes = new Map<string, Write>()
  readonly #counters = new Map<string, Counters>()

  constructor(table: Table, clinic: ClinicId) {
    this.#table = table
    this.clinic = clinic
  }

  /** Items that the transaction has so far. */
  get size(): number {
    return this.#writes.size + this.#counters.size
  }

  put(item: Item, condition?: PutCondition): void {
    const write = this.#table.putWrite(item, condition === 'new' ? 'new' : 'any')
    if (typeof condition === 'object') Object.assign(write.Put as object, conditionOf(condition))
    this.#writes.set(nameOf(item), write)
  }

  remove(key: Key): void {
    this.#writes.set(nameOf(key), this.#table.deleteWrite(key))
  }

  /** Moves an item that is nothing but its key, if it is to stand elsewhere; null is nowhere. */
  move(from: Key | null, to: Key | null): void {
    if (isDeepStrictEqual(from, to)) return
    if (from) this.remove(from)
    if (to) this.put(to)
  }

  /** Removes an item that must be there. */
  removeExisting(key: Key): void {
    this.#writes.set(nameOf(key), this.#table.deleteWrite(key, 'existing'))
  }

  /** Notes that copies of somebody's name are to be brought up to date (fan-out.ts). */
  owe(owner: string): void {
    this.add(fanOutKey(this.clinic, owner), 'owed', 1)
  }

  /** Whether changes make events: a bulk import's do not, unless it is asked to. */
  get announces(): boolean {
    return this.#table.announces
  }

  /** Announces what happened to a record, in the record's own transaction (event-fan-out.ts takes it from there). */
  announce(record: string, sequence: number, { event, data }: Happening): void {
    const key = announcedKey(this.clinic, record, sequence)
    this.put({ ...key, i: newUuid(), e: event, d: data, c: Date.now() }, 'new')
  }

  /** The whole transaction depends on an item's version. */
  require(key: Key, version: number): void {
    this.#writes.set(nameOf(key), this.#table.checkWrite(key, version))
  }

  /** Adds to a counter of an item, and counts the change in its version. */
  add(key: Key, attribute: string, by: number): void {
    const { add } = this.#countersOf(key)
    add.set(attribute, (add.get(attribute) ?? 0) + by)
  }

  /** Sets an attribute of an item that others change too; undefined removes it. */
  set(key: Key, attribute: string, value: unknown): void {
    this.#countersOf(key).set.set(attribute, value)
  }

  /** Holds the transaction to a counted item's being as it was read: of this version, or not there (0). */
  expect(key: Key, version: number): void {
    this.#countersOf(key).expected = version
  }

  /** Holds the transaction to a counter's being less than `limit` before. */
  below(key: Key, attribute: string, limit: number): void {
    this.#countersOf(key).below = { attribute, limit }
  }

  /** Adds what `other` has: false, and nothing added, when the two cannot be one transaction. */
  absorb(other: Changeset): boolean {
    const both = (mine: Map<string, unknown>, theirs: Map<string, unknown>) =>
      new Set([...mine.keys(), ...theirs.keys()]).size
    const size = both(this.#writes, other.#writes) + both(this.#counters, other.#counters)
    if (
      size > TRANSACTION_ITEMS ||
      [...other.#writes].some(([name, write]) => this.#contradicts(name, write))
    )
      return false
    for (const [name, write] of other.#writes) this.#writes.set(name, write)
    for (const { key, add, set, expected, below } of other.#counters.values()) {
      if (expected !== undefined) this.expect(key, expected)
      if (below) this.below(key, below.attribute, below.limit)
      for (const [attribute, by] of add) this.add(key, attribute, by)
      for (const [attribute, value] of set) this.set(key, attribute, value)
    }
    return true
  }

  /** Whether a write is of an item that this changes already: only equal requirements of an item go together. */
  #contradicts(name: string, write: Write): boolean {
    const known = this.#writes.get(name)
    return known !== undefined && !(known.ConditionCheck && isDeepStrictEqual(known, write))
  }

  /** The transaction's writes. */
  writes(): Write[] {
    return [
      ...this.#writes.values(),
      ...[...this.#counters.values()].flatMap((counters) => this.#updateOf(counters)),
    ]
  }

  /** @throws ConditionFailed when a record was changed since it was read */
  async commit(): Promise<void> {
    const writes = this.writes()
    if (writes.length > 0) await this.#table.transact(writes)
  }

  #countersOf(key: Key): Counters {
    const known = this.#counters.get(nameOf(key))
    if (known) return known
    const counters = { key: { pk: key.pk, sk: key.sk }, add: new Map(), set: new Map() }
    this.#counters.set(nameOf(key), counters)
    return counters
  }

  #updateOf({ key, add, set, expected, below }: Counters): Write[] {
    const moved = [...add].filter(([, by]) => by !== 0)
    if (moved.length === 0 && set.size === 0 && expected === undefined) return []
    const names: Record<string, string> = { '#v': 'v' }
    const values: Record<string, unknown> = { ':one': 1, ...(expected && { ':expected': expected }) }
    const named = (attribute: string, value?: unknown): [name: string, value: string] => {
      const at = Object.keys(names).length
      names[`#${at}`] = attribute
      if (value !== undefined) values[`:${at}`] = value
      return [`#${at}`, `:${at}`]
    }
    const adds = ['#v :one', ...moved.map(([attribute, by]) => named(attribute, by).join(' '))]
    const given = [...set].filter(([, value]) => value !== undefined)
    const sets = given.map(([attribute, value]) => named(attribute, value).join(' = '))
    const removes = [...set]
      .filter(([, value]) => value === undefined)
      .map(([attribute]) => named(attribute)[0])
    const [belowName, belowLimit] = below ? named(below.attribute, below.limit) : []
    const UpdateExpression = [
      `ADD ${adds.join(', ')}`,
      ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
      ...(removes.length > 0 ? [`REMOVE ${removes.join(', ')}`] : []),
    ].join(' ')
    return [
      this.#table.updateWrite(key, {
        UpdateExpression,
        ...(expected === 0 && { ConditionExpression: 'attribute_not_exists(pk)' }),
        ...(expected && { ConditionExpression: '#v = :expected' }),
        ...(below && {
          ConditionExpression: `attribute_not_exists(${belowName}) OR ${belowName} < ${belowLimit}`,
        }),
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
      }),
    ]
  }
}

function conditionOf(condition: Exclude<PutCondition, 'new'>) {
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
    ExpressionAttributeNames: { '#expiry': condition.unless },
    ExpressionAttributeValues: { ':now': condition.after },
  }
}

const nameOf = ({ pk, sk }: Key): string => `${pk} ${sk}`
