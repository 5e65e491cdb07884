import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { ConditionFailed, type Table } from '../../../shared/store/table/table.ts'
import type { Difference, Fault, Finding, Look } from './fault.ts'

/** In a row, without another state between them: a transaction's items may for a moment be seen apart. */
const CONFIRMATIONS = 3
/** What moves all the time cannot be judged; it is counted as `unsettled`. */
const MOST_LOOKS = 100
/** Lost races, before a repair is given up. */
const MOST_MENDS = 20

export type InspectionOptions = {
  readonly repair: boolean
  readonly onDifference: (difference: Difference) => void
  /** Milliseconds between two looks at a suspect. */
  readonly pause?: number
}

export type Inspection = {
  readonly table: Table
  readonly clinic: ClinicId
  /** Notes that so many of something were looked at. */
  readonly count: (what: string, by?: number) => void
  /** Judges a suspect: looks until it is sure, reports what is wrong, mends it if asked. Gives what stays wrong. */
  readonly examine: (look: Look) => Promise<readonly Fault[]>
}

export function openInspection(
  table: Table,
  clinic: ClinicId,
  { repair, onDifference, pause = 50 }: InspectionOptions,
) {
  const checked: Record<string, number> = {}
  const totals = { differences: 0, repaired: 0 }

  const count = (what: string, by = 1): void => {
    checked[what] = (checked[what] ?? 0) + by
  }

  async function examine(look: Look): Promise<readonly Fault[]> {
    const found = await confirmed(look, CONFIRMATIONS)
    if (found === undefined) count('unsettled')
    if (!found) return []
    const left = repair && found.mend ? await mended(look, found) : found.faults
    const kept = new Set(left.map(nameOf))
    for (const fault of found.faults) report(fault, !kept.has(nameOf(fault)))
    return left
  }

  /** The finding once it was seen so many times; null when a look found nothing, nothing when it never stood still. */
  async function confirmed(look: Look, times: number): Promise<Finding | null | undefined> {
    let seen = 0
    for (let looks = 1; looks <= MOST_LOOKS; looks++) {
      const found = await look()
      if (!found) return null
      if (found !== 'moving' && ++seen === times) return found
      await rest()
    }
    return undefined
  }

  /** Mends, and looks again, until nothing is wrong or nothing more can be done. */
  async function mended(look: Look, found: Finding): Promise<readonly Fault[]> {
    let current = found
    for (let attempt = 1; current.mend && attempt <= MOST_MENDS; attempt++) {
      try {
        await current.mend()
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
      }
      const left = await confirmed(look, 1)
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

  const rest = () => new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())))

  const inspection: Inspection = { table, clinic, count, examine }
  return { inspection, checked, totals }
}

/** The same inspection, and whether anything has been mended by it. */
export function noticeMends(inspection: Inspection) {
  let mends = 0
  const noticed = (finding: Finding): Finding => ({
    ...finding,
    mend:
      finding.mend &&
      (async () => {
        await finding.mend?.()
        mends++
      }),
  })
  const noticing: Inspection = {
    ...inspection,
    examine: (look) =>
      inspection.examine(async () => {
        const found = await look()
        return found && found !== 'moving' ? noticed(found) : found
      }),
  }
  return { noticing, mended: () => mends > 0 }
}

const nameOf = ({ kind, key }: Fault): string => `${kind} ${key.pk} ${key.sk}`
