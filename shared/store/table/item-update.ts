import { isDeepStrictEqual } from 'node:util'
import type { Key } from '../keys/key.ts'
import type { UpdateParts, Write } from './write-requests.ts'

/** The changes of one item. They are merged because a transaction accepts each item only once. */
export type ItemUpdate = {
  readonly key: Key
  readonly add: Map<string, number>
  readonly set: Map<string, unknown>
  /** The version it must have; 0 for an item that must not exist; undefined for any. */
  expectedVersion?: number
  /** The limit that a counter must be below before it is added to. */
  counterLimit?: { readonly attribute: string; readonly limit: number }
}

/** The writes and updates of a transaction, by the keys of their items. */
type Changes = {
  readonly writes: ReadonlyMap<string, Write>
  readonly updates: ReadonlyMap<string, ItemUpdate>
}

/** Whether an item would get two writes, unless they are equal version checks, or a condition would be lost. */
export function haveConflicts(mine: Changes, theirs: Changes): boolean {
  const isWritten = ([name, write]: [string, Write]) => {
    const own = mine.writes.get(name)
    return mine.updates.has(name) || (own && !(own.ConditionCheck && isDeepStrictEqual(own, write)))
  }
  const isUpdated = ([name, update]: [string, ItemUpdate]) =>
    mine.writes.has(name) || haveConflictingConditions(update, mine.updates.get(name))
  return [...theirs.writes].some(isWritten) || [...theirs.updates].some(isUpdated)
}

/** Whether both depend on the state of the item: as one update, the condition of one would be lost, or hold for both. */
const haveConflictingConditions = (mine: ItemUpdate, theirs: ItemUpdate | undefined): boolean =>
  (mine.expectedVersion !== undefined && theirs?.expectedVersion !== undefined) ||
  (mine.counterLimit !== undefined && theirs?.counterLimit !== undefined)

/** The parameters of DynamoDB's update; null when it neither changes nor requires anything. */
export function toUpdateParts(update: ItemUpdate): Omit<UpdateParts, 'ReturnValues'> | null {
  const { add, set, expectedVersion, counterLimit } = update
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
  const adds = ['#v :one']
  for (const [attribute, by] of add) if (by !== 0) adds.push(named(attribute, by).join(' '))
  const sets: string[] = []
  const removes: string[] = []
  for (const [attribute, value] of set)
    if (value === undefined) removes.push(named(attribute)[0])
    else sets.push(named(attribute, value).join(' = '))
  if (adds.length === 1 && set.size === 0 && expectedVersion === undefined) return null
  const [limitedName, limitValue] = counterLimit ? named(counterLimit.attribute, counterLimit.limit) : []
  const conditions = [
    ...(expectedVersion === 0 ? ['attribute_not_exists(pk)'] : []),
    ...(expectedVersion ? ['#v = :expected'] : []),
    ...(counterLimit ? [`(attribute_not_exists(${limitedName}) OR ${limitedName} < ${limitValue})`] : []),
  ]
  return {
    UpdateExpression: [
      `ADD ${adds.join(', ')}`,
      ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
      ...(removes.length > 0 ? [`REMOVE ${removes.join(', ')}`] : []),
    ].join(' '),
    ...(conditions.length > 0 && { ConditionExpression: conditions.join(' AND ') }),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  }
}
