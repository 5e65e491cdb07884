/** Writes one structured line. Nothing of a patient may be in it: ids of records, queries and texts stay out. */
export type WriteLog = (line: Record<string, unknown>) => void

export const logToStdout: WriteLog = (line) => {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/**
 * Where an unexpected error came from, without what it says: a message may quote a record, a stack frame cannot.
 */
export function errorOrigin(error: unknown): { name: string; at: string[] } {
  if (!(error instanceof Error)) return { name: typeof error, at: [] }
  const stack = error.stack ?? ''
  const traced = stack.slice(stack.indexOf(error.message) + error.message.length)
  const frames = traced.split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line))
  return { name: error.name, at: frames.slice(0, 8).map((line) => line.trim()) }
}
