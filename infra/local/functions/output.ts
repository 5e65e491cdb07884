import type { FunctionError } from './worker.ts'

/**
 * The part of a function's output that a person should see: plain lines unchanged, and JSON lines of level error as
 * the error's name and origin. Other structured lines are left out.
 */
export function diagnosticsIn(output: string): string[] {
  return output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap(diagnosticLines)
}

export const describeFailure = ({ errorType, errorMessage, trace }: FunctionError): string[] => [
  `${errorType}: ${errorMessage}`,
  ...trace
    .map((line) => line.trim())
    .filter((line) => !RUNNER_FRAME.test(line))
    .slice(0, MAX_FRAMES),
]

/** Stack frames of the runner and of Node, below the function's own. */
const RUNNER_FRAME = /infra\/local\/functions\/worker\.mjs|node:internal|nodejs\.internal/

const MAX_FRAMES = 4

type LogLine = {
  readonly level?: unknown
  readonly error?: unknown
  readonly message?: unknown
  readonly origin?: { readonly name?: unknown; readonly at?: readonly unknown[] }
}

function diagnosticLines(line: string): string[] {
  const logged = parse(line)
  if (!logged) return [line]
  if (String(logged.level).toLowerCase() !== 'error') return []
  const summary = [logged.error, logged.message, logged.origin?.name].filter(Boolean).join(': ')
  const frames = logged.origin?.at?.slice(0, MAX_FRAMES).map(String) ?? []
  return [summary || line, ...frames]
}

function parse(line: string): LogLine | null {
  if (!line.startsWith('{')) return null
  try {
    return JSON.parse(line) as LogLine
  } catch {
    return null
  }
}
