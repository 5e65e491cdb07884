import type { FunctionPool } from './pool.ts'

/** Invokes a function asynchronously: its result is dropped, and errors are logged. There are no retries. */
export async function invokeAsync(
  pool: FunctionPool,
  event: string,
  log: (line: string) => void,
): Promise<void> {
  const { diagnostics } = await pool.invoke(event)
  for (const line of diagnostics) log(`${pool.name}: ${line}`)
}
