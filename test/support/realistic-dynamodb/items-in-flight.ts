/**
 * Which items have a call in flight, and which calls conflict, by the rules of "Transaction conflict handling" in
 * DynamoDB's Developer Guide:
 *
 * - A transaction conflicts with any other transaction or write in flight on one of its items.
 * - A single write conflicts with a transaction in flight. Single writes do not conflict with each other.
 * - A transactional read conflicts with any transaction or write that is in flight, or that begins while it reads.
 * - Plain reads conflict with nothing, so they are not recorded here.
 *
 * The call in flight always continues, and a rejected call leaves no mark. (In DynamoDB, a transaction that is about to be
 * rejected may hold its other items for a moment, so that two transactions can conflict and both fail.) DynamoDB Local
 * 1.25 does none of this: it runs one call after the other, so 200 concurrent writers of one item never saw a conflict.
 */
import type { ItemReference } from './call.ts'

/** The items of a call that is in flight, until it is released. */
export type Hold = { readonly release: () => void }

/** A transactional read in flight. */
export type ReadHold = Hold & { readonly conflicts: ReadonlySet<number> }

/** Either the items are held, or the positions at which another call holds them. */
export type TransactionAttempt = { readonly hold: Hold } | { readonly conflicts: ReadonlySet<number> }

type ItemState = {
  transactions: number
  writes: number
  readonly readers: Set<(itemId: string) => void>
}

/** @param onConflict is called with the key of each item that a call was rejected for */
export function itemsInFlight(onConflict: (key: string) => void) {
  const states = new Map<string, ItemState>()

  const stateOf = (id: string): ItemState => {
    const state = states.get(id) ?? { transactions: 0, writes: 0, readers: new Set() }
    states.set(id, state)
    return state
  }

  const positions = (items: readonly ItemReference[], isBlocked: (state: ItemState) => boolean) =>
    new Set(
      items.flatMap((item, index) => {
        const state = states.get(idOf(item))
        if (!state || !isBlocked(state)) return []
        onConflict(item.key)
        return [index]
      }),
    )

  const hold = (items: readonly ItemReference[], change: (state: ItemState, by: 1 | -1) => void): Hold => {
    const ids = [...new Set(items.map(idOf))]
    for (const id of ids) change(stateOf(id), 1)
    return {
      release: () => {
        for (const id of ids) {
          const state = stateOf(id)
          change(state, -1)
          if (state.transactions + state.writes + state.readers.size === 0) states.delete(id)
        }
      },
    }
  }

  const notifyReaders = (items: readonly ItemReference[]): void => {
    for (const id of items.map(idOf)) for (const notify of states.get(id)?.readers ?? []) notify(id)
  }

  return {
    beginTransaction: (items: readonly ItemReference[]): TransactionAttempt => {
      const conflicts = positions(items, isChanging)
      if (conflicts.size > 0) return { conflicts }
      notifyReaders(items)
      return {
        hold: hold(items, (state, by) => {
          state.transactions += by
        }),
      }
    },
    /** The items that are free are held, and the others reported. */
    beginWrites: (items: readonly ItemReference[]): { hold: Hold; conflicts: ReadonlySet<number> } => {
      const conflicts = positions(items, ({ transactions }) => transactions > 0)
      const free = items.filter((_item, index) => !conflicts.has(index))
      notifyReaders(free)
      return {
        hold: hold(free, (state, by) => {
          state.writes += by
        }),
        conflicts,
      }
    },
    /** `conflicts` of the result grows when a write begins on one of the items. */
    beginTransactionalRead: (items: readonly ItemReference[]): ReadHold => {
      const conflicts = new Set(positions(items, isChanging))
      const notify = (id: string): void => {
        items.forEach((item, index) => {
          if (idOf(item) !== id || conflicts.has(index)) return
          onConflict(item.key)
          conflicts.add(index)
        })
      }
      const { release } = hold(items, ({ readers }, by) => {
        if (by === 1) readers.add(notify)
        else readers.delete(notify)
      })
      return { release, conflicts }
    },
  }
}

const isChanging = ({ transactions, writes }: ItemState): boolean => transactions + writes > 0

const idOf = ({ table, key }: ItemReference): string => `${table}/${key}`
