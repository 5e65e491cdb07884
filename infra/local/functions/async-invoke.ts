import type { FunctionPool } from './pool.ts'

/** An asynchronous invocation: nobody gets its result, so what goes wrong goes to the log. Nothing is retried. */
export async function invokeAsync(
  pool: FunctionPool,
  event: string,
  log: (line: string) => void,
): Promise<void> {
  const { diagnostics } = await pool.invoke(event)
  for (const line of diagnostics) log(`${pool.name}: ${line}`)
}
