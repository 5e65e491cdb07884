/** Two processes that walk at the same time: the progress and its lease. */
import { expect, it } from 'vitest'
import { type WalkOptions, WalkTaken, walk } from '../../../../shared/maintenance/walk/walk.ts'
import { tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()
const MINUTE = 60_000
let walks = 0

/** Two segments of five pages, one number each. */
const numbers = {
  segments: 2,
  readPage: async (segment: number, after = -1) => ({
    items: [segment * 10 + after + 1],
    read: 1,
    next: after + 1 < 4 ? after + 1 : undefined,
  }),
}

/** A new walk. `start` begins a process of it. */
type Process = WalkOptions & {
  readonly subject?: string
  /** Milliseconds that its clock is ahead. */
  readonly later?: number
  /** What happens while a number is visited. */
  readonly during?: (number: number) => unknown
}

function newWalk() {
  const progress = { pk: `walk#maintain#test-${++walks}`, sk: 'progress' }
  const visited: number[] = []
  const start = ({ subject = '', later = 0, during, ...options }: Process = {}) =>
    walk(
      { ...db.table, now: () => Date.now() + later },
      numbers,
      {
        progress,
        subject,
        visit: async ([number = 0]) => {
          await during?.(number)
          visited.push(number)
          return { sum: number }
        },
        finish: async ({ counts: { sum = 0 } }) => sum,
      },
      options,
    )
  return { start, visited, stored: () => db.table.get(progress) }
}

/** Ends a process in the visit of a number. */
const failAt = (wrong: number) => (number: number) => {
  if (number === wrong) throw new Error('stopped')
}

const ALL = [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
const SUM = 70

it('lets another process take over an expired lease, after which the first writes no progress', async () => {
  const { start, visited, stored } = newWalk()
  const resumed: number[] = []
  let atTakeover: unknown
  const slow = start({
    during: async (number) => {
      if (number !== 2) return
      const second = start({
        later: MINUTE,
        onResume: ({ read }) => resumed.push(read),
        during: failAt(4),
      })
      await expect(second).rejects.toThrow('stopped')
      atTakeover = await stored()
    },
  })
  await expect(slow).rejects.toThrow(WalkTaken)
  expect(await stored()).toEqual(atTakeover)
  expect(resumed.length).toBe(1)
  expect(await start({ later: 2 * MINUTE })).toBe(SUM)
  expect([...new Set(visited)].toSorted((a, b) => a - b)).toEqual(ALL)
  expect(await stored()).toBeUndefined()
})

it('rejects a second process while the first renews its lease, even during one long visit', async () => {
  const { start, visited } = newWalk()
  const first = start({
    leaseMs: 300,
    during: async (number) => {
      if (number === 2)
        await expect(start({ leaseMs: 300 })).rejects.toThrow('Another process is running this')
    },
  })
  expect(await first).toBe(SUM)
  expect(visited.toSorted((a, b) => a - b)).toEqual(ALL)
})

it('continues after an error without waiting, and begins again for another subject or on request', async () => {
  const { start, visited } = newWalk()
  const stop = async () => {
    await expect(start({ subject: 'one', during: failAt(3) })).rejects.toThrow('stopped')
    visited.length = 0
  }
  await stop()
  expect(await start({ subject: 'one' })).toBe(SUM)
  expect(visited).not.toContain(0)
  for (const other of [{ subject: 'two' }, { subject: 'one', restart: true }]) {
    await stop()
    expect(await start(other)).toBe(SUM)
    expect(visited.length).toBe(10)
  }
})

it('ends a second process that waited until the first had finished', async () => {
  const { start, visited } = newWalk()
  let first: Promise<number> = Promise.resolve(0)
  const second = Promise.withResolvers<unknown>()
  const waiting = Promise.withResolvers<void>()
  first = start({
    during: async (number) => {
      if (number !== 1) return
      const sleep = async () => {
        waiting.resolve()
        await first
      }
      second.resolve(start({ sleep }).catch((error) => error))
      await waiting.promise
    },
  })
  expect(await first).toBe(SUM)
  expect(await second.promise).toEqual(new WalkTaken('Another process has just finished this.'))
  expect(visited.length).toBe(10)
})
