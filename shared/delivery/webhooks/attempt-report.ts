import type { ClinicId } from '../../domain/clinic.ts'
import type { AttemptResult } from './webhook-transport.ts'

/** The loggable facts of an attempt of a delivery. */
export type AttemptReport = {
  readonly clinic: ClinicId
  /** Undefined if no request caused the event. */
  readonly requestId: string | undefined
  /** `cut-off`: the quick lane had no more time for it, and the slow lane repeats it. */
  readonly outcome: 'delivered' | 'rejected' | 'unreachable' | 'cut-off'
  /** The status of the response, or why there was none. */
  readonly status: number | null
  readonly reason: string | null
  readonly latencyMs: number
}

/** @param isCutOff whether the attempt is repeated in the slow lane */
export function attemptReport(
  delivery: { readonly clinic: ClinicId; readonly requestId: string | undefined },
  result: AttemptResult,
  isCutOff: boolean,
): AttemptReport {
  const { kind, latencyMs } = result
  if (kind === 'failed')
    return {
      ...delivery,
      outcome: isCutOff ? 'cut-off' : 'unreachable',
      status: null,
      reason: result.reason,
      latencyMs,
    }
  const outcome = result.status >= 200 && result.status < 300 ? 'delivered' : 'rejected'
  return { ...delivery, outcome, status: result.status, reason: null, latencyMs }
}
