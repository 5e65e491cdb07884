import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/** Runs a program to its end. `printed` is what it wrote to standard output, then to standard error. */
export async function runJudge(
  program: string,
  args: readonly string[],
  {
    input = '',
    cwd,
    environment,
  }: { readonly input?: string; readonly cwd?: string; readonly environment?: NodeJS.ProcessEnv } = {},
): Promise<{ code: number | null; printed: string; errors: string }> {
  const child = spawn(program, args, { cwd, env: environment })
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  )
  child.stdin.end(input)
  const [printed, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, printed, errors }
}
