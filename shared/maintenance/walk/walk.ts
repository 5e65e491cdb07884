/**
 * Walks the table or its clinics in segments that are read in parallel, and stores after each page how far it is. A walk that was
 * stopped continues there. The progress has a lease: one process walks at a time, and another takes over once the lease has expired.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Key } from '../../store/keys/key.ts'
import { ConditionFailed } from '../../store/table/errors.ts'
import { mapConcurrent } from '../../store/table/map-concurrent.ts'
import type { Table } from '../../store/table/table.ts'

export type Counts<Name extends string = string> = Readonly<Record<Name, number>>

/** What is walked. A cursor is where the next page of a segment begins. */
export type Source<T, Cursor> = {
  readonly segments: number
  /** `read` is the number of items of the page before any filter; without `next`, it is the last of its segment. */
  readonly readPage: (
    segment: number,
    after: Cursor | undefined,
  ) => Promise<{ readonly items: readonly T[]; readonly read: number; readonly next: Cursor | undefined }>
}

export type Visitor<T, Name extends string, Result> = {
  /** Where the progress is stored: an item that the caller's role may write. */
  readonly progress: Key
  /** What is walked. Stored progress of something else is not continued. */
  readonly subject?: string
  /** Called before the first page, and again when a walk is continued. */
  readonly begin?: () => Promise<unknown>
  /** Whether there is anything to do with an item. */
  readonly concerns?: (item: T) => boolean
  /** Does something with items, and returns what it counted. A page in which a process was stopped is visited again. */
  readonly visit: (items: readonly T[]) => Promise<Counts<Name>>
  /** Each segment is walked until a pass over it finds no item that concerns the visitor, or this error ends the walk. */
  readonly untilNothingFound?: { readonly error: string }
  /** Called after all segments, while no other process walks; again if it was stopped. */
  readonly finish: (walked: Walked<Name>) => Promise<Result>
}

export type Walked<Name extends string> = {
  /** Over all processes. Counts of a page in which one was stopped may be missing. */
  readonly counts: Partial<Counts<Name>>
  readonly passes: number
}

/** Progress that a walk continues: when it began, as an ISO 8601 instant, and the number of items that were read. */
export type Resumed = { readonly begun: string; readonly read: number }

export type WalkOptions = {
  readonly onResume?: (resumed: Resumed) => void
  /** Begins again, whatever is stored. */
  readonly restart?: boolean
  /** Milliseconds after which another process takes over, if the one that walks was stopped. */
  readonly leaseMs?: number
  readonly sleep?: (ms: number) => Promise<unknown>
}

/** Another process walks, or has just finished. */
export class WalkTaken extends Error {}

/** Items that concern the visitor are still being written. */
export class StillFound extends Error {}

type Segment<Cursor> = {
  readonly after?: Cursor
  readonly read: number
  /** Passes that were begun. */
  readonly passes: number
  /** Whether the current pass has found anything. Stored before it is changed, so that a stopped process cannot hide it. */
  readonly found: boolean
  readonly done: boolean
  readonly counts: Counts
}

const LEASE_MS = 30_000

/** Passes of one process over a segment. Requests and workers that had begun before a walk can write for some seconds. */
const MAX_PASSES = 5

/**
 * Walks a source. Returns the result of the visitor's `finish`, and removes the progress.
 * @throws WalkTaken if another process walks; StillFound if each pass over a segment finds something
 */
export async function walk<T, Cursor, Name extends string, Result>(
  table: Table,
  { segments: count, readPage }: Source<T, Cursor>,
  visitor: Visitor<T, Name, Result>,
  { onResume, restart = false, leaseMs = LEASE_MS, sleep = delay }: WalkOptions = {},
): Promise<Result> {
  const { concerns = () => true, visit, untilNothingFound, finish } = visitor
  const fresh: Segment<Cursor> = { read: 0, passes: 1, found: false, done: false, counts: {} }
  const begin = { subject: visitor.subject ?? '', segments: Array(count).fill(fresh) }
  const lease = await takeLease(table, visitor.progress, begin, { restart, leaseMs, sleep })
  const segments = lease.segments as Segment<Cursor>[]
  const read = sum(segments.map((segment) => segment.read))
  if (read > 0) onResume?.({ begun: lease.begun, read })
  let isStopped = false
  const renewal = setInterval(() => lease.renew().catch(() => {}), leaseMs / 3)

  async function walkSegment(index: number): Promise<void> {
    let segment = segments[index] as Segment<Cursor>
    const save = async (change: Partial<Segment<Cursor>>): Promise<void> => {
      segment = { ...segment, ...change }
      if (await lease.save(index, segment)) return
      throw new WalkTaken(
        'Another process has taken over because this one did not respond. This one has stopped.',
      )
    }
    const lastPass = segment.passes + MAX_PASSES
    while (!segment.done && !isStopped) {
      if (segment.passes === lastPass) throw new StillFound(untilNothingFound?.error)
      const page = await readPage(index, segment.after)
      const items = page.items.filter(concerns)
      if (items.length > 0 && untilNothingFound && !segment.found) await save({ found: true })
      const counts = items.length > 0 ? add(segment.counts, await visit(items)) : segment.counts
      const position = { read: segment.read + page.read, counts, after: page.next }
      if (page.next !== undefined) await save(position)
      else if (segment.found) await save({ ...position, found: false, passes: segment.passes + 1 })
      else await save({ ...position, done: true })
    }
    segments[index] = segment
  }

  try {
    await visitor.begin?.()
    await mapConcurrent(count, [...segments.keys()], (index) =>
      walkSegment(index).catch((error) => {
        isStopped = true
        throw error
      }),
    )
    const counts = segments.reduce((total, segment) => add(total, segment.counts), {} as Counts)
    const passes = Math.max(...segments.map((segment) => segment.passes))
    const result = await finish({ counts: counts as Partial<Counts<Name>>, passes })
    await lease.end()
    return result
  } catch (error) {
    // The next process need not wait.
    await lease.release().catch(() => {})
    throw error
  } finally {
    clearInterval(renewal)
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const add = (a: Counts, b: Counts): Counts => ({
  ...a,
  ...Object.fromEntries(Object.entries(b).map(([name, count]) => [name, (a[name] ?? 0) + count])),
})

type Progress = {
  readonly by: string
  readonly until: number
  readonly begun: string
  readonly subject: string
  readonly segments: readonly unknown[]
}

/** Takes the lease of a walk, after the one of a stopped process has expired. @throws WalkTaken */
async function takeLease(
  table: Table,
  key: Key,
  { subject, segments }: Pick<Progress, 'subject' | 'segments'>,
  { restart, leaseMs, sleep }: Required<Omit<WalkOptions, 'onResume'>>,
) {
  const by = table.newId()
  const expiry = () => table.now() + leaseMs

  /** Sets attributes, if the lease is of this owner; without an owner, if there is none. Returns false otherwise. */
  async function write(
    owner: string | undefined,
    values: object,
    expression = Object.keys(values).map((name) => `#${name} = :${name}`),
  ): Promise<boolean> {
    const names = ['by', ...Object.keys(values)].map((name) => [`#${name}`, name])
    try {
      await table.update(key, {
        UpdateExpression: `SET ${expression}`,
        ConditionExpression: owner === undefined ? 'attribute_not_exists(#by)' : '#by = :owner',
        ExpressionAttributeNames: Object.fromEntries(names),
        ExpressionAttributeValues: {
          ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
          ...(owner !== undefined && { ':owner': owner }),
        },
      })
      return true
    } catch (error) {
      if (error instanceof ConditionFailed) return false
      throw error
    }
  }

  async function take(): Promise<Progress> {
    for (let waited = false; ; ) {
      const stored = (await table.get(key)) as (Progress & Key) | undefined
      if (stored?.by === by) return stored
      if (waited && !stored) throw new WalkTaken('Another process has just finished this.')
      const wait = stored ? stored.until - table.now() : 0
      if (wait > 0 && waited)
        throw new WalkTaken(
          `Another process is running this, begun at ${stored?.begun}. Wait for it, or end it.`,
        )
      if (wait > 0) {
        waited = true
        await sleep(wait + 1)
        continue
      }
      const isContinued =
        !restart && stored?.subject === subject && stored.segments.length === segments.length
      const begun = new Date(table.now()).toISOString()
      const taken = { by, until: expiry(), ...(isContinued ? {} : { begun, subject, segments }) }
      if (await write(stored?.by, taken))
        return { begun, subject, segments, ...(isContinued && stored), ...taken }
    }
  }

  const progress = await take()
  return {
    begun: progress.begun,
    segments: [...progress.segments],
    save: (index: number, segment: unknown) =>
      write(by, { until: expiry(), segments: segment }, [
        '#until = :until',
        `#segments[${index}] = :segments`,
      ]),
    renew: () => write(by, { until: expiry() }),
    release: () => write(by, { until: 0 }),
    /** Deletes the progress, unless the visitor has. */
    end: () =>
      table.transact([table.deleteWrite(key, { attribute: 'by', equals: by })]).catch((error) => {
        if (!(error instanceof ConditionFailed)) throw error
      }),
  }
}
