/** The codec of records to which the store adds the time of their last change. */
import { isDeepStrictEqual } from 'node:util'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { type Attributes, instant } from './attributes.ts'
import { readRecord } from './unreadable-record.ts'

/** Every such record stores its creation under this name. */
const CREATED_AT = 'c'

/** The attribute is not stored while it equals the creation: most records never change, and reads are charged by size. */
const updatedAt = instant('u')

type RecordCodec<Entity> = {
  readonly encode: (record: Entity) => Attributes
  readonly decode: (item: Attributes, id: string) => Entity
  readonly large: readonly string[]
  readonly unlisted: readonly string[]
}

export const withUpdatedAtCodec = <Entity>(codec: RecordCodec<Entity>) => ({
  large: codec.large,
  unlisted: codec.unlisted,
  encode: (record: WithUpdatedAt<Entity>): Attributes => {
    const attributes = codec.encode(record)
    const changedAt = updatedAt.encode(record.updatedAt)
    return changedAt === attributes[CREATED_AT] ? attributes : { ...attributes, [updatedAt.name]: changedAt }
  },
  /** @throws UnreadableRecord for an item that `encode` does not return */
  decode: (item: Attributes, id: string): WithUpdatedAt<Entity> =>
    readRecord(item, id, () => ({
      ...codec.decode(item, id),
      updatedAt: updatedAt.decode(item[updatedAt.name] ?? item[CREATED_AT]),
    })),
})

/** Whether a change of a stored record changes nothing. The time of its last change is not compared. */
export const isSameRecord = <Entity>(before: WithUpdatedAt<Entity>, after: Entity): boolean =>
  isDeepStrictEqual(before, { ...after, updatedAt: before.updatedAt })
