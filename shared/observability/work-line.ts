import type { WriteLog } from './log.ts'

/** A piece of work of a worker, such as an attempt of a delivery. */
export type Work = {
  readonly clinic: string
  /** The request that caused it; undefined if unknown. */
  readonly requestId: string | undefined
  readonly outcome: string
  readonly status?: number | null
  readonly reason?: string | null
  readonly latencyMs?: number
}

export type LogWork = (worker: string, work: Work) => void

/** Writes a line for each piece of work, with the id of the request that caused it. */
export const workLogger =
  (write: WriteLog, now: () => number): LogWork =>
  (worker, { clinic, requestId, outcome, status, reason, latencyMs }) =>
    write({
      timestamp: new Date(now()).toISOString(),
      level: 'info',
      ...(requestId !== undefined && { request_id: requestId }),
      worker,
      clinic_id: clinic,
      outcome,
      ...(typeof status === 'number' && { status }),
      ...(typeof reason === 'string' && { reason }),
      ...(latencyMs !== undefined && { duration_ms: Math.round(latencyMs) }),
    })
