import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/**
 * Runs a program to its end. `printed` is what it wrote to standard output, `errors` what it wrote to standard error.
 * @throws Error with both if it does not end in time: less than the time of the test, which could not print them
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  {
    input = '',
    cwd,
    environment,
    timeoutMs = 3_000_000,
  }: {
    readonly input?: string
    readonly cwd?: string
    readonly environment?: NodeJS.ProcessEnv
    readonly timeoutMs?: number
  } = {},
): Promise<{ code: number | null; printed: string; errors: string }> {
  const child = spawn(program, args, { cwd, env: environment, timeout: timeoutMs, killSignal: 'SIGKILL' })
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  )
  child.stdin.end(input)
  const [printed, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (child.killed)
    throw new Error(
      `${program} did not end within ${timeoutMs / 1000} s.\n${`${printed}${errors}`.slice(-10_000)}`,
    )
  return { code, printed, errors }
}
