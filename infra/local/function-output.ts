import type { FunctionError } from './function-worker.ts'

/**
 * What a person should see of a function's output: lines that are not JSON as they are, JSON lines of level error as
 * their origin. All else of the structured log is for machines.
 */
export function complaintsIn(output: string): string[] {
  return output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap(complaint)
}

export const describeFailure = ({ errorType, errorMessage, trace }: FunctionError): string[] => [
  `${errorType}: ${errorMessage}`,
  ...trace
    .map((line) => line.trim())
    .filter((line) => !RUNNER_FRAME.test(line))
    .slice(0, FRAMES),
]

/** Frames of what called the function. */
const RUNNER_FRAME = /infra\/local\/worker\.mjs|node:internal|nodejs\.internal/

const FRAMES = 4

type LogLine = {
  readonly level?: unknown
  readonly error?: unknown
  readonly message?: unknown
  readonly origin?: { readonly name?: unknown; readonly at?: readonly unknown[] }
}

function complaint(line: string): string[] {
  const logged = parse(line)
  if (!logged) return [line]
  if (String(logged.level).toLowerCase() !== 'error') return []
  const what = [logged.error, logged.message, logged.origin?.name].filter(Boolean).join(': ')
  const frames = logged.origin?.at?.slice(0, FRAMES).map(String) ?? []
  return [what || line, ...frames]
}

function parse(line: string): LogLine | null {
  if (!line.startsWith('{')) return null
  try {
    return JSON.parse(line) as LogLine
  } catch {
    return null
  }
}
