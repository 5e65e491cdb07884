import type { ClinicId } from '../../../domain/clinic.ts'
import type { Key } from '../../../store/keys/key.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import { isRetryable } from '../../../store/table/retries.ts'
import type { Table } from '../../../store/table/table.ts'
import { UnreadableRecord } from '../../../store/table/unreadable-record.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import {
  type Difference,
  type DifferenceKind,
  NEVER_REPAIRED,
  type ReportedDifference,
} from './difference.ts'
import { type Snapshot, snapshotOf } from './snapshot.ts'

/** Consecutive equal findings that count as certain: the items of a transaction can become visible one after another. */
const CONFIRMATIONS = 3
/** Readings before a suspect that changes all the time is counted as `unsettled`. */
const MAX_CHECKS = 100
/** Conflicts after which a repair is abandoned. */
const MAX_REPAIRS = 20
/** Passes over a part with repairs. */
const MAX_PASSES = 5

export type InspectionOptions = {
  readonly repair: boolean
  readonly onDifference: (difference: ReportedDifference) => void
  /** Called when items of a kind were checked. */
  readonly onCount?: (what: string, by: number) => void
  /** Milliseconds between two readings of a suspect. */
  readonly pauseMs?: number
}

export type Verification = {
  /** Number of checked items by kind; `unsettled` items changed too often to be checked. */
  readonly checked: Record<string, number>
  readonly differences: number
  readonly repaired: number
}

/** The differences found by one reading of a suspect, and a repair of all that fails if anything has changed since. */
export type Finding = {
  readonly differences: readonly Difference[]
  readonly repair: (() => Promise<unknown>) | null
}

/** A finding of one difference, about an item. Without a repair, the decision is the operator's. */
export const findingOf = (
  kind: DifferenceKind,
  { pk, sk }: Key,
  repair: Finding['repair'] = null,
  note?: string,
): Finding => ({ differences: [{ kind, key: { pk, sk }, ...(note !== undefined && { note }) }], repair })

/** Reads a suspect again. Null if nothing is wrong, `moving` if other writers changed what was not read from the snapshot. */
export type Recheck = (read: Snapshot) => Promise<Finding | 'moving' | null>

export type Inspection = {
  readonly table: Table
  readonly clinic: ClinicId
  /** Adds to the count of checked items of a kind. */
  readonly count: (what: string, by?: number) => void
  /** Reads a suspect until the finding is certain, reports the differences and repairs them on request. Returns those that remain. */
  readonly examine: (recheck: Recheck) => Promise<readonly Difference[]>
  /** Examines several suspects concurrently. */
  readonly examineAll: <Suspect>(
    suspects: Iterable<Suspect>,
    recheck: (suspect: Suspect, read: Snapshot) => ReturnType<Recheck>,
  ) => Promise<void>
  /** Commits the changes of a repair together. */
  readonly commit: (change: (changes: Changeset) => void) => Promise<void>
  /** The number of repairs that were committed, whether or not nothing was wrong after them. */
  readonly repairs: () => number
}

export function openInspection(
  table: Table,
  clinic: ClinicId,
  { repair, onDifference, onCount, pauseMs: pause = 50 }: InspectionOptions,
) {
  const checked: Record<string, number> = {}
  const totals = { differences: 0, repaired: 0 }
  let repairs = 0
  let passes = 1
  /** What this pass has found. */
  let unrepaired: Difference[] = []
  let repairedNow = new Set<string>()

  const count = (what: string, by = 1): void => {
    if (passes > 1) return
    checked[what] = (checked[what] ?? 0) + by
    onCount?.(what, by)
  }

  async function examine(recheck: Recheck): Promise<readonly Difference[]> {
    const found = await confirm(recheck, CONFIRMATIONS)
    if (found === undefined) count('unsettled')
    if (!found) return []
    const left = repair && found.repair ? await repairDifferences(recheck, found) : found.differences
    const kept = new Set(left.map(differenceId))
    for (const difference of found.differences) {
      const id = differenceId(difference)
      if (repair && kept.has(id)) unrepaired.push(difference)
      else report(difference, !kept.has(id))
      if (!kept.has(id)) repairedNow.add(id)
    }
    return left
  }

  /**
   * Verifies a part. With repairs, it is verified again until a pass repairs nothing: a repair can show what else is wrong, or which side
   * is right. What could not be repaired is reported after the last pass.
   */
  async function verifyPart(verify: () => Promise<void>): Promise<void> {
    let before: readonly Difference[] = []
    for (passes = 1; passes <= MAX_PASSES; passes++) {
      const committed = repairs
      unrepaired = []
      repairedNow = new Set()
      await verify()
      const known = new Set([...unrepaired.map(differenceId), ...repairedNow])
      // The repair of another difference has repaired these, if they have repairs at all.
      for (const difference of before)
        if (!known.has(differenceId(difference))) report(difference, !NEVER_REPAIRED.has(difference.kind))
      before = unrepaired
      if (repairs === committed) break
    }
    for (const difference of before) report(difference, false)
  }

  /** The finding once it is certain; null if a reading found nothing, undefined if the suspect kept changing. */
  async function confirm(recheck: Recheck, times: number): Promise<Finding | null | undefined> {
    let seen = 0
    for (let checks = 1; checks <= MAX_CHECKS; checks++) {
      const snapshot = snapshotOf(table)
      const found = await recheck(snapshot)
      if (!found) return null
      if (found !== 'moving' && (await snapshot.isCurrent()) && ++seen === times) return found
      await waitBetweenChecks()
    }
    return undefined
  }

  /** Repairs and reads again, until nothing is wrong or nothing more can be repaired. */
  async function repairDifferences(recheck: Recheck, found: Finding): Promise<readonly Difference[]> {
    let current = found
    for (let attempt = 1; current.repair && attempt <= MAX_REPAIRS; attempt++) {
      try {
        await current.repair()
        repairs++
      } catch (error) {
        if (error instanceof UnreadableRecord) return current.differences
        if (!isRetryable(error)) throw error
        await waitBetweenChecks()
      }
      const left = await confirm(recheck, 1)
      if (left === null) return []
      current = left ?? current
    }
    return current.differences
  }

  function report(difference: Difference, repaired: boolean): void {
    totals.differences++
    if (repaired) totals.repaired++
    onDifference({ ...difference, repaired })
  }

  const waitBetweenChecks = () => new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())))

  const inspection: Inspection = {
    table,
    clinic,
    count,
    examine,
    examineAll: (suspects, recheck) =>
      forEachConcurrent([...suspects], (suspect) => examine((read) => recheck(suspect, read))),
    commit: async (change) => {
      const changes = new Changeset(table, clinic)
      change(changes)
      await changes.commit()
    },
    repairs: () => repairs,
  }
  return { inspection, verifyPart, result: (): Verification => ({ checked, ...totals }) }
}

const differenceId = ({ kind, key }: Difference): string => `${kind} ${key.pk} ${key.sk}`
