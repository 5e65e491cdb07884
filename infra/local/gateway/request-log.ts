/** A request in the terminal's log. It has no path, query or ids, since those can identify a patient. */
export type RequestEntry = {
  readonly status: number
  readonly method: string
  /** The resource path of the route, or null if no route matched. */
  readonly resource: string | null
  readonly durationMs: number
  readonly requestId: string
  /** Errors of the function. */
  readonly diagnostics: readonly string[]
}

const METHOD_WIDTH = 'OPTIONS'.length
/** Stack frames are indented below their error. */
const INDENT = ' '.repeat(15)

/** Times are in this machine's time zone, so it must be created before the process switches to UTC. */
export function requestLog(log: (line: string, isRoutine: boolean) => void) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium' })
  let width = 0
  return {
    write: (entry: RequestEntry) =>
      log(formatRequest(entry, width, clock.format(Date.now())), entry.diagnostics.length === 0),
    /** Widens the column of resources to the longest one. */
    align: (resources: readonly string[]) => {
      width = Math.max(...resources.map(({ length }) => length))
    },
  }
}

export function formatRequest(entry: RequestEntry, resourceWidth: number, time: string): string {
  const line = [
    time,
    entry.status,
    entry.method.padEnd(METHOD_WIDTH),
    (entry.resource ?? '(no route)').padEnd(resourceWidth),
    `${String(Math.round(entry.durationMs)).padStart(5)} ms`,
    entry.requestId,
  ].join('  ')
  return [line, ...entry.diagnostics.map((complaint) => `${INDENT}${complaint}`)].join('\n')
}
