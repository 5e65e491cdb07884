/**
 * Walks the table or its clinics in segments that are read in parallel, and stores after each page how far it is. A walk that was
 * stopped continues there. The progress has a lease: one process walks at a time, and another takes over once the lease has expired.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Key } from '../../store/keys/key.ts'
import { ifConditionHolds, UnavailableError } from '../../store/table/errors.ts'
import { mapConcurrent } from '../../store/table/map-concurrent.ts'
import { withScope } from '../../store/table/request-scope.ts'
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

/** The items of a page that concern a visitor: at least one. */
type Found<T> = readonly [T, ...T[]]

const isFound = <T>(items: readonly T[]): items is Found<T> => items.length > 0

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
  readonly visit: (items: Found<T>) => Promise<Counts<Name>>
  /** What a page counts that could not be visited: the walk continues. Without this, and if the table cannot be reached, it ends. */
  readonly onFailed?: (items: Found<T>, error: Error) => Counts<Name> | Promise<Counts<Name>>
  /** All segments are walked again until a pass finds no item that concerns the visitor, or this error ends the walk. */
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
  /** Called before a wait of so many milliseconds for the lease of another process. */
  readonly onWait?: (ms: number) => void
  /** Begins again, whatever is stored. */
  readonly restart?: boolean
  /** Whether to stop before the next page, so that another process continues. */
  readonly mustStop?: () => boolean
  /** Called with the result of the visitor's `finish`, while no other process walks; again if this one was stopped. */
  readonly onFinish?: (result: unknown) => Promise<unknown>
  /** Milliseconds after which another process takes over, if the one that walks was stopped. */
  readonly leaseMs?: number
  readonly sleep?: (ms: number) => Promise<unknown>
}

/** Another process walks, or has just finished. */
export class WalkTaken extends Error {}

/** The walk stopped before its end, as its caller requested. */
export class WalkStopped extends Error {}

/** Items that concern the visitor are still being written. */
export class StillFound extends Error {}

type Segment<Cursor> = {
  readonly after?: Cursor
  readonly read: number
  /** Passes that were begun. */
  readonly passes: number
  /** Whether the current pass has found anything. Stored before it is changed, so that a stopped process cannot hide it. */
  readonly found: boolean
  /** Whether the current pass is complete. */
  readonly done: boolean
  readonly counts: Counts
}

const LEASE_MS = 30_000

const LEASE_LOST =
  'This process did not respond for too long, and another may have taken over. Run the command again to continue.'

/** Passes of one process. Requests and workers that had begun before a walk can write for some seconds. */
const MAX_PASSES = 5

/**
 * Walks a source. Returns the result of the visitor's `finish`, and removes the progress.
 * @throws WalkTaken if another process walks; WalkStopped; StillFound if each pass finds something
 */
export async function walk<T, Cursor, Name extends string, Result>(
  table: Table,
  { segments: count, readPage }: Source<T, Cursor>,
  visitor: Visitor<T, Name, Result>,
  options: WalkOptions = {},
): Promise<Result> {
  const { onResume, onWait = () => {}, restart = false, leaseMs = LEASE_MS, sleep = delay } = options
  const { mustStop = () => false, onFinish = async () => {} } = options
  const { concerns = () => true, visit, onFailed, untilNothingFound, finish } = visitor
  const fresh: Segment<Cursor> = { read: 0, passes: 1, found: false, done: false, counts: {} }
  const begin = { subject: visitor.subject ?? '', segments: Array(count).fill(fresh) }
  const lease = await takeLease(table, visitor.progress, begin, { onWait, restart, leaseMs, sleep })
  let segments = lease.segments as Segment<Cursor>[]
  const read = sum(segments.map((segment) => segment.read))
  if (read > 0) onResume?.({ begun: lease.begun, read })
  let isStopped = false
  const ending = new AbortController()
  /** Ends calls of the visitor, even after the process was suspended: another may have finished the walk since. */
  const leaseSignal = () => {
    if (!lease.isHeld()) ending.abort()
    return ending.signal
  }
  const whileHeld = <R>(work: () => Promise<R>): Promise<R> => withScope({ signal: leaseSignal }, work)
  const renewal = setInterval(() => {
    leaseSignal()
    lease.renew().catch(() => {})
  }, leaseMs / 3)
  const requireSaved = (isSaved: boolean): void => {
    if (!isSaved) throw new WalkTaken(LEASE_LOST)
  }

  const visitPage = (items: Found<T>): Promise<Counts<Name>> =>
    whileHeld(() => visit(items)).catch((error) => {
      if (!onFailed || ending.signal.aborted || error instanceof UnavailableError) throw error
      return onFailed(items, error)
    })

  async function walkSegment(index: number): Promise<void> {
    let segment = segments[index] as Segment<Cursor>
    const save = async (change: Partial<Segment<Cursor>>): Promise<void> => {
      segment = { ...segment, ...change }
      requireSaved(await lease.save(segment, index))
    }
    while (!segment.done && !isStopped && !mustStop()) {
      const page = await readPage(index, segment.after)
      const items = page.items.filter(concerns)
      if (isFound(items) && untilNothingFound && !segment.found) await save({ found: true })
      const found = isFound(items) ? await visitPage(items) : {}
      const counts = add(segment.counts, found)
      await save({ read: segment.read + page.read, counts, after: page.next, done: page.next === undefined })
    }
    segments[index] = segment
  }

  try {
    await whileHeld(async () => visitor.begin?.())
    for (let passes = 1; ; passes++) {
      await mapConcurrent(count, [...segments.keys()], (index) =>
        walkSegment(index).catch((error) => {
          isStopped = true
          throw error
        }),
      )
      if (segments.some(({ done }) => !done)) throw new WalkStopped()
      if (!segments.some(({ found }) => found)) break
      if (passes === MAX_PASSES) throw new StillFound(untilNothingFound?.error)
      const again = { after: undefined, found: false, done: false }
      segments = segments.map((segment) => ({ ...segment, ...again, passes: segment.passes + 1 }))
      requireSaved(await lease.save(segments))
    }
    const counts = segments.reduce((total, segment) => add(total, segment.counts), {} as Counts)
    const passes = segments[0]?.passes ?? 0
    const result = await whileHeld(() => finish({ counts: counts as Partial<Counts<Name>>, passes }))
    await whileHeld(() => onFinish(result))
    await lease.end()
    return result
  } catch (error) {
    // The next process need not wait.
    await lease.release().catch(() => {})
    throw ending.signal.aborted ? new WalkTaken(LEASE_LOST) : error
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
  {
    onWait,
    restart,
    leaseMs,
    sleep,
  }: Required<Pick<WalkOptions, 'onWait' | 'restart' | 'leaseMs' | 'sleep'>>,
) {
  const by = table.newId()
  const expiry = () => table.now() + leaseMs
  let heldUntil = 0

  /** Sets attributes, if the progress has those of `required`; without, if there is no progress. Returns false otherwise. */
  async function write(
    required: Partial<Progress> | undefined,
    values: Pick<Progress, 'until'> & { readonly segments?: unknown },
    expression = Object.keys(values).map((name) => `#${name} = :${name}`),
  ): Promise<boolean> {
    const named = { by, ...required, ...values }
    const conditions = Object.keys(required ?? {}).map((name) => `#${name} = :required_${name}`)
    const valuesOf = (prefix: string, from: object) =>
      Object.fromEntries(Object.entries(from).map(([name, value]) => [`${prefix}${name}`, value]))
    const update = table.update(key, {
      UpdateExpression: `SET ${expression}`,
      ConditionExpression: required ? conditions.join(' AND ') : 'attribute_not_exists(#by)',
      ExpressionAttributeNames: Object.fromEntries(Object.keys(named).map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: { ...valuesOf(':', values), ...valuesOf(':required_', required ?? {}) },
    })
    const isWritten = await ifConditionHolds(update)
    if (isWritten) heldUntil = values.until
    return isWritten
  }

  async function take(): Promise<Progress> {
    for (let waited = false; ; ) {
      const stored = (await table.get(key)) as (Progress & Key) | undefined
      if (stored?.by === by) {
        heldUntil = stored.until
        return stored
      }
      if (waited && !stored) throw new WalkTaken('Another process has just finished this.')
      const wait = stored ? stored.until - table.now() : 0
      if (wait > 0 && waited)
        throw new WalkTaken(
          `Another process is running this, begun at ${stored?.begun}. Wait for it, or end it.`,
        )
      if (wait > 0) {
        waited = true
        onWait(wait)
        await sleep(wait + 1)
        continue
      }
      const isContinued =
        !restart && stored?.subject === subject && stored.segments.length === segments.length
      const begun = new Date(table.now()).toISOString()
      const taken = { by, until: expiry(), ...(isContinued ? {} : { begun, subject, segments }) }
      // A process that was only slow has renewed its lease since it was read, or stored progress.
      if (await write(stored && { by: stored.by, until: stored.until }, taken))
        return { begun, subject, segments, ...(isContinued && stored), ...taken }
    }
  }

  const progress = await take()
  return {
    begun: progress.begun,
    segments: progress.segments,
    /** False some time before another process can take over. */
    isHeld: () => table.now() < heldUntil - leaseMs / 10,
    /** Saves all segments, or the one at `index`. */
    save: (saved: unknown, index?: number) =>
      write({ by }, { until: expiry(), segments: saved }, [
        '#until = :until',
        `#segments${index === undefined ? '' : `[${index}]`} = :segments`,
      ]),
    renew: () => write({ by }, { until: expiry() }),
    release: () => write({ by }, { until: 0 }),
    /** Deletes the progress, unless the visitor has. */
    end: () => ifConditionHolds(table.transact([table.deleteWrite(key, { attribute: 'by', equals: by })])),
  }
}
