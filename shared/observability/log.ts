import { channel } from 'node:diagnostics_channel'

/**
 * Writes one structured line. It must not contain patient data: no record ids (except in the access trail), queries,
 * texts or error messages.
 */
export type WriteLog = (line: Record<string, unknown>) => void

export const logToStdout: WriteLog = (line) => {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Carries unexpected errors as they are. Nothing subscribes to it on AWS; the local runner does, which prints them. */
const unexpectedErrors = channel('unexpected-error')

/**
 * The name and stack frames of an unexpected error. The message is left out, since it may quote a record.
 */
export function errorOrigin(error: unknown): { name: string; at: string[] } {
  unexpectedErrors.publish(error)
  if (!(error instanceof Error)) return { name: typeof error, at: [] }
  const stack = error.stack ?? ''
  const traced = stack.slice(stack.indexOf(error.message) + error.message.length)
  const frames = traced.split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line))
  return { name: error.name, at: frames.slice(0, 8).map((line) => line.trim()) }
}
