import type { RecordMs } from './metrics.ts'

/** Records at the first invocation of a process that was started for it how long that took. */
export function coldStart(
  recordMs: RecordMs,
  isStartedOnDemand: boolean,
  uptime: () => number = () => performance.now(),
): () => void {
  let isWarm = !isStartedOnDemand
  return () => {
    if (isWarm) return
    isWarm = true
    recordMs('cold_start_ms', Math.round(uptime()))
  }
}
