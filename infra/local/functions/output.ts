import { existsSync, readFileSync } from 'node:fs'
import type { FunctionError } from './worker.ts'

/**
 * The part of a function's output that a person should see: plain lines unchanged, and of JSON lines of level error the
 * names of the error. Other structured lines are left out.
 */
export function diagnosticsIn(output: string): string[] {
  return output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap(diagnosticLines)
}

/** The name and message of an error, the line of the source that it comes from, and its stack without packages. */
export function describeFailure({ errorType, errorMessage, trace }: FunctionError): string[] {
  const frames = trace.map((line) => line.trim()).filter((line) => !RUNNER_FRAME.test(line))
  const ours = frames.filter((line) => !line.includes('node_modules'))
  const shown = ours.length > 0 ? ours : frames
  return [`${errorType}: ${errorMessage}`, ...sourceLine(shown[0]), ...shown.slice(0, MAX_FRAMES)]
}

function sourceLine(frame = ''): string[] {
  const [, file = '', line = ''] = /(\/[^():]+):(\d+):\d+\)?$/.exec(frame) ?? []
  const source = existsSync(file) ? readFileSync(file, 'utf8').split('\n')[Number(line) - 1] : undefined
  return source === undefined ? [] : [`> ${source.trim()}`]
}

/** Stack frames of the runner and of Node, below the function's own. */
const RUNNER_FRAME = /infra\/local\/functions\/worker\.mjs|node:internal|nodejs\.internal/

const MAX_FRAMES = 4

type LogLine = {
  readonly level?: unknown
  readonly error?: unknown
  readonly message?: unknown
  readonly origin?: { readonly name?: unknown }
}

function diagnosticLines(line: string): string[] {
  const logged = parse(line)
  if (!logged) return [line]
  if (String(logged.level).toLowerCase() !== 'error') return []
  const summary = [logged.error, logged.message, logged.origin?.name].filter(Boolean).join(': ')
  return [summary || line]
}

function parse(line: string): LogLine | null {
  if (!line.startsWith('{')) return null
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
