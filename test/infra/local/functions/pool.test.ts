import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createFunctionPool, type FunctionPool } from '../../../../infra/local/functions/pool.ts'
import { openScheduler } from '../../../../infra/local/functions/scheduler.ts'
import { functionOf, poolOf } from './function-fixture.ts'

/** An invocation lasts until as many others as `meet` run at the same time. */
const COUNTER = `const { BroadcastChannel, threadId } = require('node:worker_threads')
let calls = 0
exports.handler = async ({ wait = 0, meet = 0 }) => {
  const channel = new BroadcastChannel('meeting')
  const met = new Set()
  await new Promise((resolve) => {
    const leave = () => met.size === meet && resolve()
    channel.onmessage = ({ data }) => {
      if (!met.has(data)) channel.postMessage(threadId)
      met.add(data)
      leave()
    }
    channel.postMessage(threadId)
    leave()
  })
  channel.close()
  await new Promise((resolve) => setTimeout(resolve, wait))
  return { thread: threadId, calls: ++calls }
}`

it('waits for the start of a function that is an ES module', async () => {
  const spec = functionOf('exports.handler = async () => "later"', { handler: 'start.handler' })
  const start = 'let name\nname = await Promise.resolve("started")\nexport const handler = async () => name'
  writeFileSync(join(spec.assetDirectory, 'start.mjs'), start)
  const pool = createFunctionPool(spec, () => {})
  onTestFinished(() => pool.close())
  expect(await pool.invoke('{}')).toMatchObject({ ok: true, payload: '"started"' })
})

it('accepts a function that returns nothing or no promise', async () => {
  expect((await poolOf('exports.handler = () => {}').invoke()).value).toBeNull()
  expect((await poolOf('exports.handler = () => 7').invoke()).value).toBe(7)
})

it('passes a context like Lambda’s', async () => {
  const { invoke } = poolOf(`exports.handler = async (_event, context) => ({
    ...context, remaining: context.getRemainingTimeInMillis() })`)
  const { value } = await invoke()
  expect(value).toMatchObject({
    functionName: 'stack-Fixture',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:stack-Fixture',
    memoryLimitInMB: '128',
    logGroupName: 'logs',
    awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  expect(value.remaining).toBeGreaterThan(4000)
  expect(value.remaining).toBeLessThanOrEqual(5000)
  expect((await invoke()).value.awsRequestId).not.toBe(value.awsRequestId)
})

it('runs a function with its own environment and none of this process’s variables', async () => {
  process.env.OF_THE_PARENT = 'secret'
  const { value } = await poolOf('exports.handler = async () => process.env').invoke()
  expect(value).toEqual({ GREETING: 'hello', _X_AMZN_TRACE_ID: '' })
})

it('keeps an environment warm and runs one invocation at a time in it', async () => {
  const { invoke } = poolOf(COUNTER)
  await invoke()
  expect((await invoke()).value.calls).toBe(2)
  const together = await Promise.all([invoke({ meet: 1 }), invoke({ meet: 1 })])
  expect(new Set(together.map(({ value }) => value.thread)).size).toBe(2)
})

it('starts at most four environments and queues further invocations', async () => {
  const { invoke } = poolOf(COUNTER)
  const outcomes = await Promise.all([3, 3, 3, 3, 0, 0, 0, 0].map((meet) => invoke({ meet })))
  expect(outcomes.every(({ ok }) => ok)).toBe(true)
  expect(new Set(outcomes.map(({ value }) => value.thread)).size).toBe(4)
})

it('does not run an invocation that is abandoned while it waits', async () => {
  const { invoke } = poolOf(COUNTER, {}, undefined, { scaleOutMs: 60_000 })
  const running = invoke()
  const client = new AbortController()
  const waiting = invoke({}, client.signal)
  client.abort()
  expect(await waiting).toMatchObject({ ok: false, error: { errorType: 'Abandoned' }, diagnostics: [] })
  await running
  expect((await invoke()).value.calls).toBe(2)
})

it('ends idle environments, the last one of a function later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { invoke } = poolOf(COUNTER)
  const runTwo = async () =>
    (await Promise.all([invoke({ meet: 1 }), invoke({ meet: 1 })])).map(({ value }) => value.calls)
  expect(await runTwo()).toEqual([1, 1])
  vi.advanceTimersByTime(10_000)
  expect(await runTwo()).toEqual([2, 1])
  vi.advanceTimersByTime(310_000)
  expect(await runTwo()).toEqual([1, 1])
})

it('reports an error of the function and keeps its environment', async () => {
  const { invoke } = poolOf(`let calls = 0
exports.handler = async () => { if (++calls === 1) throw new TypeError('no such thing'); return calls }`)
  const failed = await invoke()
  expect(failed).toMatchObject({
    ok: false,
    error: { errorType: 'TypeError', errorMessage: 'no such thing' },
  })
  expect(failed.diagnostics[0]).toBe('TypeError: no such thing')
  expect(failed.diagnostics[1]).toMatch(/^> exports.handler = async/)
  expect(failed.diagnostics[2]).toMatch(/^at /)
  expect((await invoke()).value).toBe(2)
})

it('replaces the environment of a function that times out', async () => {
  const { invoke } = poolOf('exports.handler = async ({ hang }) => { while (hang); return "quick" }', {
    timeoutMs: 200,
  })
  await invoke()
  const startedAt = performance.now()
  const outcome = await invoke({ hang: true })
  expect(performance.now() - startedAt).toBeLessThan(1000)
  expect(outcome.diagnostics).toEqual(['Sandbox.Timedout: Task timed out after 0.20 seconds'])
  expect((await invoke()).value).toBe('quick')
})

it.each([
  ['process.exit', 'process.exit(3)', /Runtime\.ExitError: .*exit code 3/],
  [
    'an uncaught exception',
    'setTimeout(() => { throw new RangeError("late") }); await new Promise(() => {})',
    /RangeError: late/,
  ],
  [
    'an unhandled rejection',
    'Promise.reject(new RangeError("lost")); await new Promise(() => {})',
    /RangeError: lost/,
  ],
  [
    'more memory than it has',
    'const all = []; for (;;) all.push(new Array(1e5).fill(Math.random()))',
    /ERR_WORKER_OUT_OF_MEMORY|memory/,
  ],
])('fails an invocation that ends by %s and replaces the environment', async (_what, deed, complaint) => {
  const { invoke } = poolOf(`exports.handler = async ({ die }) => { if (die) { ${deed} } return 'alive' }`, {
    memoryMb: 32,
  })
  expect((await invoke()).value).toBe('alive')
  const outcome = await invoke({ die: true })
  expect(outcome.ok).toBe(false)
  expect(outcome.diagnostics.join('\n')).toMatch(complaint)
  expect((await invoke()).value).toBe('alive')
})

it.each([
  ['that throws', 'throw new Error("no module")', /Error: no module/],
  ['without the handler', 'exports.other = 1', /index\.handler is not a function/],
  ['that does not parse', 'exports.handler = = 1', /SyntaxError/],
])('fails every invocation of a bundle %s', async (_what, source, complaint) => {
  const { invoke } = poolOf(source)
  for (const outcome of [await invoke(), await invoke()])
    expect(outcome.diagnostics.join('\n')).toMatch(complaint)
})

it('fails every invocation when its thread cannot be started', async () => {
  const { invoke } = poolOf('exports.handler = () => {}', { handler: (() => {}) as never }, undefined, {
    loading: 1,
  })
  for (const outcome of [await invoke(), await invoke()])
    expect(outcome.diagnostics.join('\n')).toMatch(/DataCloneError/)
})

it('ends an idle environment of another function for one beyond as many as may be', async () => {
  const scheduler = openScheduler({ environments: 2 })
  const [first, second, third] = [COUNTER, COUNTER, COUNTER].map((source) => {
    const pool = createFunctionPool(functionOf(source), () => {}, { scheduler })
    onTestFinished(() => pool.close())
    return async () => {
      const outcome = await pool.invoke('{}')
      return outcome.ok && JSON.parse(outcome.payload).calls
    }
  })
  expect([await first?.(), await second?.(), await first?.(), await third?.()]).toEqual([1, 1, 2, 1])
  expect([await first?.(), await second?.()]).toEqual([3, 1])
})

it('runs no invocation in an environment that crashed while it waited for a place', async () => {
  const scheduler = openScheduler({ running: 1 })
  const lines: string[] = []
  const pools = [
    `exports.handler = async () => { setTimeout(() => { throw new Error('late') }, 100); return 'fresh' }`,
    COUNTER,
  ].map((source) => createFunctionPool(functionOf(source), (line) => lines.push(line), { scheduler }))
  const [crashing, other] = pools as [FunctionPool, FunctionPool]
  onTestFinished(async () => void (await Promise.all(pools.map((pool) => pool.close()))))
  await crashing.invoke('{}')
  const running = other.invoke('{ "wait": 1000 }')
  const waiting = crashing.invoke('{}')
  await expect.poll(() => lines.join()).toContain('late')
  await running
  expect(await waiting).toMatchObject({ ok: true, payload: '"fresh"' })
})

it('fails an invocation whose response exceeds Lambda’s limit', async () => {
  const { invoke } = poolOf('exports.handler = async () => "x".repeat(7e6)')
  expect((await invoke()).diagnostics[0]).toMatch(/larger than Lambda's limit/)
})

it('returns unstructured output and logged errors as diagnostics of the invocation', async () => {
  const { invoke } = poolOf(`exports.handler = async () => {
  console.log('by hand')
  console.error('to stderr')
  process.stdout.write(JSON.stringify({ level: 'info', status: 200 }) + '\\n')
  process.stdout.write(JSON.stringify({ level: 'error', error: 'internal', origin: { name: 'TypeError', at: ['at x'] } }) + '\\n')
}`)
  expect((await invoke()).diagnostics).toEqual(['by hand', 'to stderr', 'internal: TypeError'])
  expect((await invoke()).diagnostics).toHaveLength(3)
})

it('prints the message, the source line and the stack of an error that the function handles, and logs none of them', async () => {
  const { invoke, logged } = poolOf(`const { channel } = require('node:diagnostics_channel')
exports.handler = async () => {
  channel('unexpected-error').publish(new TypeError('no such thing'))
}`)
  const { diagnostics } = await invoke()
  expect(diagnostics.slice(0, 2)).toEqual([
    'TypeError: no such thing',
    "> channel('unexpected-error').publish(new TypeError('no such thing'))",
  ])
  expect(diagnostics[2]).toMatch(/^at .*index\.js:3:/)
  expect(logged).toEqual([])
})

it('logs output between invocations', async () => {
  const { invoke, lines } = poolOf(
    `exports.handler = async () => { setTimeout(() => console.log('afterwards'), 5) }`,
  )
  expect((await invoke()).diagnostics).toEqual([])
  await expect.poll(() => lines).toEqual(['Fixture: afterwards'])
})

it('fails running and queued invocations when it closes', async () => {
  const { pool, invoke } = poolOf(COUNTER)
  const outcomes = Array.from({ length: 6 }, () => invoke({ wait: 60_000 }))
  await pool.close()
  expect((await Promise.all(outcomes)).map(({ ok }) => ok)).toEqual(Array(6).fill(false))
  expect((await invoke()).ok).toBe(false)
})

it('fails the running invocations when it is killed, and continues with fresh environments', async () => {
  const { invoke, pool, lines } = poolOf(COUNTER)
  await invoke()
  const running = invoke({ wait: 5000 })
  await pool.kill()
  expect(await running).toMatchObject({ ok: false, error: { errorType: 'Runtime.ExitError' } })
  expect((await invoke()).value.calls).toBe(1)
  expect(lines).toEqual([])
})

it('replaces idle environments when it is killed', async () => {
  const { invoke, pool } = poolOf(COUNTER)
  await invoke()
  await pool.kill()
  expect((await invoke()).value.calls).toBe(1)
})

it('runs functions with the time of the given clock, and the remaining time of the invocation', async () => {
  const clockOffset = new Float64Array(new SharedArrayBuffer(8))
  const source = `exports.handler = async (_event, context) => ({
    now: Date.now(), date: new Date().getTime(), epoch: new Date(0).toISOString(), isDate: new Date() instanceof Date,
    remaining: context.getRemainingTimeInMillis() })`
  const { invoke } = poolOf(source, {}, clockOffset)
  clockOffset[0] = 3_600_000
  const { value } = await invoke()
  const later = Date.now() + 3_600_000
  expect(value).toMatchObject({ epoch: '1970-01-01T00:00:00.000Z', isDate: true })
  for (const time of [value.now, value.date]) expect(Math.abs(time - later)).toBeLessThan(60_000)
  expect(value.remaining).toBeGreaterThan(0)
})
