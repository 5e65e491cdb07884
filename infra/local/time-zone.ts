/** Lambda runs in UTC, and a thread has the time zone of its process. Returns what undoes it. */
export function runInUtc(): () => void {
  const { TZ } = process.env
  process.env.TZ = 'UTC'
  return () => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  }
}
