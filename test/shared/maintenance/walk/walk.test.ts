/** Two processes that walk at the same time: the progress and its lease. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, it, vi } from 'vitest'
import { type WalkOptions, WalkStopped, WalkTaken, walk } from '../../../../shared/maintenance/walk/walk.ts'
import { UnavailableError } from '../../../../shared/store/table/errors.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()
const MINUTE = 60_000
/** Runs work outside of the visit from which it is called. */
const inNewProcess = AsyncLocalStorage.snapshot()
let walks = 0
/** Milliseconds for which processes were suspended. */
let suspended = 0

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
  readonly table?: Table
}

function newWalk() {
  const progress = { pk: `walk#maintain#test-${++walks}`, sk: 'progress' }
  const visited: number[] = []
  const start = ({ subject = '', later = 0, during, table = db.table, ...options }: Process = {}) =>
    inNewProcess(() =>
      walk(
        { ...table, now: () => Date.now() + later + suspended },
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
      ),
    )
  const stored = () => db.table.get(progress)
  /** Waits until the segment from 10 to 14 stores no more progress, which would renew the lease. */
  const otherSegmentDone = () =>
    vi.waitFor(async () => expect(await stored()).toMatchObject({ segments: [{}, { done: true }] }))
  return { start, visited, stored, otherSegmentDone }
}

/** Ends a process in the visit of a number. */
const failAt = (wrong: number) => (number: number) => {
  if (number === wrong) throw new Error('stopped')
}

const gate = () => Promise.withResolvers<void>()

const ALL = [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
const SUM = 70

it('lets another process take over from a suspended one, which then changes nothing', async () => {
  const { start, visited, stored, otherSegmentDone } = newWalk()
  const resumed: number[] = []
  const created = { pk: 'created-since', sk: '1' }
  let atTakeover: unknown
  const slow = start({
    during: async (number) => {
      if (number !== 2) return
      await inNewProcess(async () => {
        await otherSegmentDone()
        suspended += MINUTE
        const second = start({ onResume: ({ read }) => resumed.push(read), during: failAt(4) })
        await expect(second).rejects.toThrow('stopped')
        atTakeover = await stored()
        await db.table.putMany([created])
      })
      await db.table.deleteMany([created])
    },
  })
  await expect(slow).rejects.toThrow(WalkTaken)
  expect([await stored(), await db.table.get(created)]).toEqual([atTakeover, created])
  expect(resumed.length).toBe(1)
  suspended += MINUTE
  expect(await start()).toBe(SUM)
  expect([...new Set(visited)].toSorted((a, b) => a - b)).toEqual(ALL)
  expect(await stored()).toBeUndefined()
})

it('takes over with the progress that a slow process stores at that moment', async () => {
  const { start, visited, otherSegmentDone } = newWalk()
  const gates = new Map([1, 3].map((number) => [number, [gate(), gate()] as const]))
  const first = start({
    during: async (number) => {
      const [reached, opened] = gates.get(number) ?? []
      reached?.resolve()
      await opened?.promise
    },
  })
  await gates.get(1)?.[0].promise
  await otherSegmentDone()
  const update: Table['update'] = async (...call) => {
    gates.get(1)?.[1].resolve()
    await gates.get(3)?.[0].promise
    return db.table.update(...call)
  }
  expect(await start({ later: MINUTE, table: { ...db.table, update } })).toBe(SUM)
  gates.get(3)?.[1].resolve()
  await expect(first).rejects.toThrow(WalkTaken)
  expect(visited.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 3, 4, 10, 11, 12, 13, 14])
})

it('walks every segment again after a pass that found something in one', async () => {
  const waiting = [new Set<number>(), new Set([1])]
  const passes = await walk(
    db.table,
    {
      segments: 2,
      readPage: async (segment) => {
        if (segment === 1) await new Promise((resolve) => setTimeout(resolve, 100))
        return { items: [...(waiting[segment] ?? [])], read: 1, next: undefined }
      },
    },
    {
      progress: { pk: 'walk#maintain#found', sk: 'progress' },
      visit: async ([item = 0]) => {
        for (const items of waiting) items.delete(item)
        // A writer that needed this item has written to the segment that was read before.
        if (item === 1) waiting[0]?.add(2)
        return {}
      },
      untilNothingFound: { error: 'still found' },
      finish: async ({ passes }) => passes,
    },
  )
  expect([passes, waiting]).toEqual([3, [new Set(), new Set()]])
})

it('continues after a page that cannot be visited, but not without its table', async () => {
  const progress = { pk: 'walk#maintain#failing', sk: 'progress' }
  const walkFailing = (error: Error) =>
    walk(db.table, numbers, {
      progress,
      visit: async ([number = 0]) => {
        if (number === 2) throw error
        return { sum: number }
      },
      onFailed: ([number = 0], { message }) => ({ sum: message === 'wrong' ? 1000 * number : 0 }),
      finish: async ({ counts: { sum = 0 } }) => sum,
    })
  expect(await walkFailing(new Error('wrong'))).toBe(SUM - 2 + 2000)
  await expect(walkFailing(new UnavailableError('down'))).rejects.toThrow(UnavailableError)
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

it('stops between two pages, and leaves the rest to the next process', async () => {
  const { start, visited, stored } = newWalk()
  const results: unknown[] = []
  const onFinish = async (result: unknown) => results.push(result)
  await expect(start({ onFinish, mustStop: () => visited.length >= 4 })).rejects.toThrow(WalkStopped)
  expect([await stored(), results]).toMatchObject([{ until: 0 }, []])
  const stoppedAfter = visited.length
  expect(stoppedAfter).toBeLessThan(10)
  expect(await start({ onFinish, onWait: () => expect.unreachable() })).toBe(70)
  expect([visited.length, new Set(visited).size, results]).toEqual([10, 10, [70]])
})

it('ends a second process that waited until the first had finished', async () => {
  const { start, visited } = newWalk()
  let first: Promise<number> = Promise.resolve(0)
  const second = Promise.withResolvers<unknown>()
  const waiting = Promise.withResolvers<void>()
  const waits: number[] = []
  first = start({
    during: async (number) => {
      if (number !== 1) return
      const sleep = async () => {
        waiting.resolve()
        await first
      }
      second.resolve(start({ sleep, onWait: (ms) => waits.push(ms) }).catch((error) => error))
      await waiting.promise
    },
  })
  expect(await first).toBe(SUM)
  expect(await second.promise).toEqual(new WalkTaken('Another process has just finished this.'))
  expect(visited.length).toBe(10)
  expect(waits).toEqual([expect.any(Number)])
})
