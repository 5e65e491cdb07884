import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { ConditionFailed, type Table } from '../../../shared/store/table/table.ts'
import type { Difference, Fault, Finding, Recheck } from './fault.ts'

/** In a row, without another state between them: a transaction's items may for a moment be seen apart. */
const CONFIRMATIONS = 3
/** What moves all the time cannot be judged; it is counted as `unsettled`. */
const MAX_CHECKS = 100
/** Lost races, before a repair is given up. */
const MAX_REPAIRS = 20

export type InspectionOptions = {
  readonly repair: boolean
  readonly onDifference: (difference: Difference) => void
  /** Milliseconds between two looks at a suspect. */
  readonly pauseMs?: number
}

export type Inspection = {
  readonly table: Table
  readonly clinic: ClinicId
  /** Notes that so many of something were looked at. */
  readonly count: (what: string, by?: number) => void
  /** Judges a suspect: looks until it is sure, reports what is wrong, mends it if asked. Gives what stays wrong. */
  readonly examine: (recheck: Recheck) => Promise<readonly Fault[]>
}

export function openInspection(
  table: Table,
  clinic: ClinicId,
  { repair, onDifference, pauseMs: pause = 50 }: InspectionOptions,
) {
  const checked: Record<string, number> = {}
  const totals = { differences: 0, repaired: 0 }

  const count = (what: string, by = 1): void => {
    checked[what] = (checked[what] ?? 0) + by
  }

  async function examine(recheck: Recheck): Promise<readonly Fault[]> {
    const found = await confirm(recheck, CONFIRMATIONS)
    if (found === undefined) count('unsettled')
    if (!found) return []
    const left = repair && found.repair ? await repairFaults(recheck, found) : found.faults
    const kept = new Set(left.map(faultId))
    for (const fault of found.faults) report(fault, !kept.has(faultId(fault)))
    return left
  }

  /** The finding once it was seen so many times; null when a look found nothing, nothing when it never stood still. */
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

  /** Mends, and looks again, until nothing is wrong or nothing more can be done. */
  async function repairFaults(recheck: Recheck, found: Finding): Promise<readonly Fault[]> {
    let current = found
    for (let attempt = 1; current.repair && attempt <= MAX_REPAIRS; attempt++) {
      try {
        await current.repair()
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
      }
      const left = await confirm(recheck, 1)
      if (left === null) return []
      current = left ?? current
    }
    return current.faults
  }

  function report(fault: Fault, repaired: boolean): void {
    totals.differences++
    if (repaired) totals.repaired++
    onDifference({ ...fault, repaired })
  }

  const waitBetweenChecks = () => new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())))

  const inspection: Inspection = { table, clinic, count, examine }
  return { inspection, checked, totals }
}

/** The same inspection, and whether anything has been mended by it. */
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

const faultId = ({ kind, key }: Fault): string => `${kind} ${key.pk} ${key.sk}`
