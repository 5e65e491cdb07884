import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { createFunctionPool } from '../../../../infra/local/functions/pool.ts'
import { type Limits, openScheduler } from '../../../../infra/local/functions/scheduler.ts'
import type { FunctionSpec } from '../../../../infra/local/functions/spec.ts'
import type { ClockOffset } from '../../../../infra/local/functions/worker.ts'

/** A function of the given source, as a bundle of the stack would be; gone when the test is. */
export function functionOf(source: string, spec: Partial<FunctionSpec> = {}): FunctionSpec {
  const assetDirectory = mkdtempSync(join(inject('runFolder'), 'function-'))
  writeFileSync(join(assetDirectory, 'index.js'), source)
  return {
    id: 'Fixture',
    name: 'stack-Fixture',
    arn: 'arn:aws:lambda:us-east-1:000000000000:function:stack-Fixture',
    handler: 'index.handler',
    assetDirectory,
    timeoutMs: 5000,
    memoryMb: 128,
    logGroup: 'logs',
    environment: { GREETING: 'hello' },
    ...spec,
  }
}

/** Environments start as soon as they are needed. */
const AT_ONCE: Partial<Limits> = { loading: 4, scaleOutMs: 0 }

/** Runs it until the test is over; `lines` is what the runner's log got outside of invocations, `logged` what the function's log got. */
export function poolOf(
  source: string,
  spec: Partial<FunctionSpec> = {},
  clockOffset?: ClockOffset,
  limits = AT_ONCE,
) {
  const lines: string[] = []
  const logged: string[] = []
  const pool = createFunctionPool(functionOf(source, spec), (line) => lines.push(line), {
    clockOffset,
    writeLogs: (_, text) => logged.push(text),
    scheduler: openScheduler(limits),
  })
  onTestFinished(() => pool.close())
  const invoke = async (event: unknown = {}, abandoned?: AbortSignal) => {
    const outcome = await pool.invoke(JSON.stringify(event), '', abandoned)
    return outcome.ok ? { ...outcome, value: JSON.parse(outcome.payload) } : { ...outcome, value: undefined }
  }
  return { pool, invoke, lines, logged }
}
