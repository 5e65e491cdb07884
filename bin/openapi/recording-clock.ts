/** When every recording begins: a full hour, on a Monday after the year of the demo clinics' closing days. */
export const RECORDING_START = '2026-05-04T09:00:00Z'

/**
 * The NODE_OPTIONS of a process that runs from RECORDING_START instead of from `now` (milliseconds since the epoch). The
 * clock keeps running, so that lists sort by time and timeouts end.
 */
export function recordingNodeOptions(now: number): string {
  const preload = new URL('./shifted-clock.mjs', import.meta.url)
  preload.searchParams.set('offset', String(Date.parse(RECORDING_START) - now))
  return `--import ${preload}`
}
