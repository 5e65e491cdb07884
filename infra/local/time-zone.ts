/**
 * Sets the time zone of this process to UTC, as on Lambda. Threads have the time zone of their process. Returns a
 * function that restores the previous time zone.
 */
export function runInUtc(): () => void {
  const { TZ } = process.env
  process.env.TZ = 'UTC'
  return () => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  }
}
