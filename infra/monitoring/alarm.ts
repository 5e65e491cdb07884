import type { Figure } from './figures.ts'

/**
 * `patients-affected`: patients or integrators notice it now; it wakes a person. `look-tomorrow`: the service copes for a
 * day, or the effect is not visible yet.
 */
export type Severity = 'patients-affected' | 'look-tomorrow'

/** An alarm, as data. Infrastructure, the dashboard and the runbook's tests derive from it. */
export type AlarmDefinition = {
  readonly id: string
  readonly severity: Severity
  /** The meaning of the alarm, in a sentence. */
  readonly why: string
  /** The page of the runbook, in docs/operate/. */
  readonly page: string
  readonly figure: Figure
  /** The alarm is on while the figure is above, or below, this. */
  readonly above?: number
  readonly below?: number
  /** The length of a period. */
  readonly minutes: number
  /** How many of the latest periods are read, and how many of them must be over the threshold; both 1 if not set. */
  readonly periods?: number
  readonly breaches?: number
  /** Whether a period without any value is over the threshold. */
  readonly missingIsBreach?: boolean
}
