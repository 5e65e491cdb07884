import type { ClinicId } from '../../../domain/clinic.ts'
import { isRetryable } from '../../../store/table/retry-on-conflict.ts'
import type { Table } from '../../../store/table/table.ts'
import { UnreadableRecord } from '../../../store/table/unreadable-record.ts'
import type { Difference, Finding, Recheck, ReportedDifference } from './difference.ts'

/** Consecutive equal findings that count as certain: the items of a transaction can become visible one after another. */
const CONFIRMATIONS = 3
/** Readings before a suspect that changes all the time is counted as `unsettled`. */
const MAX_CHECKS = 100
/** Conflicts after which a repair is abandoned. */
const MAX_REPAIRS = 20

export type InspectionOptions = {
  readonly repair: boolean
  readonly onDifference: (difference: ReportedDifference) => void
  /** Called when items of a kind were checked. */
  readonly onCount?: (what: string, by: number) => void
  /** The findings of parts that were verified before. */
  readonly before?: Verification | undefined
  /** Milliseconds between two readings of a suspect. */
  readonly pauseMs?: number
}

export type Verification = {
  /** Number of checked items by kind; `unsettled` items changed too often to be checked. */
  readonly checked: Record<string, number>
  readonly differences: number
  readonly repaired: number
}

export type Inspection = {
  readonly table: Table
  readonly clinic: ClinicId
  /** Adds to the count of checked items of a kind. */
  readonly count: (what: string, by?: number) => void
  /** Reads a suspect until the finding is certain, reports the differences and repairs them on request. Returns those that remain. */
  readonly examine: (recheck: Recheck) => Promise<readonly Difference[]>
}

export function openInspection(
  table: Table,
  clinic: ClinicId,
  { repair, onDifference, onCount, before, pauseMs: pause = 50 }: InspectionOptions,
) {
  const checked: Record<string, number> = { ...before?.checked }
  const totals = { differences: before?.differences ?? 0, repaired: before?.repaired ?? 0 }

  const count = (what: string, by = 1): void => {
    checked[what] = (checked[what] ?? 0) + by
    onCount?.(what, by)
  }

  async function examine(recheck: Recheck): Promise<readonly Difference[]> {
    const found = await confirm(recheck, CONFIRMATIONS)
    if (found === undefined) count('unsettled')
    if (!found) return []
    const left = repair && found.repair ? await repairDifferences(recheck, found) : found.differences
    const kept = new Set(left.map(differenceId))
    for (const difference of found.differences) report(difference, !kept.has(differenceId(difference)))
    return left
  }

  /** The finding once it is certain; null if a reading found nothing, undefined if the suspect kept changing. */
  async function confirm(recheck: Recheck, times: number): Promise<Finding | null | undefined> {
    let seen = 0
    for (let checks = 1; checks <= MAX_CHECKS; checks++) {
      const found = await recheck()
      if (!found) return null
      if (found !== 'moving' && ++seen === times) return found
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

  const inspection: Inspection = { table, clinic, count, examine }
  return { inspection, checked, totals }
}

/** The same inspection, which also tells whether it has repaired anything. */
export function trackRepairs(inspection: Inspection) {
  let repairs = 0
  const withTracking = (finding: Finding): Finding => ({
    ...finding,
    repair:
      finding.repair &&
      (async () => {
        await finding.repair?.()
        repairs++
      }),
  })
  const tracked: Inspection = {
    ...inspection,
    examine: (recheck) =>
      inspection.examine(async () => {
        const found = await recheck()
        return found && found !== 'moving' ? withTracking(found) : found
      }),
  }
  return { tracked, hasRepaired: () => repairs > 0 }
}

const differenceId = ({ kind, key }: Difference): string => `${kind} ${key.pk} ${key.sk}`
