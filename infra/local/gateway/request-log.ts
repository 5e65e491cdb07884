/** One request as a person at the terminal wants to see it: never its path, query or ids, which may name a patient. */
export type RequestEntry = {
  readonly status: number
  readonly method: string
  /** The route's template, or null for none. */
  readonly resource: string | null
  readonly durationMs: number
  readonly requestId: string
  /** What the function complained of. */
  readonly diagnostics: readonly string[]
}

const METHOD_WIDTH = 'OPTIONS'.length
/** Frames of an origin are indented below the line they belong to. */
const INDENT = ' '.repeat(15)

export type RequestLog = {
  readonly write: (entry: RequestEntry) => void
  /** Makes room for the longest of the resources. */
  readonly align: (resources: readonly string[]) => void
}

/** Times are those of this machine's zone, which must be asked before the process goes over to UTC. */
export function requestLog(log: (line: string) => void, now: () => number = Date.now): RequestLog {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium' })
  let width = 0
  return {
    write: (entry) => log(formatRequest(entry, width, clock.format(now()))),
    align: (resources) => {
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
