/**
 * Loads a bundle, invokes its handler, and writes what each step took to file descriptor 3. On request, it stops before the first
 * call, until a signal continues it. A bundle of its own: Node runs no TypeScript in it.
 */
import { readFileSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Lap, ProcessReport } from './cold.ts'

const [, , bundle = '', eventFile = '', warmCalls = '0', stops = ''] = process.argv
const event = readFileSync(eventFile, 'utf8')
const load = createRequire(__filename)

/** What happened since the last lap. */
function stopwatch() {
  let at = performance.now()
  let cpu = process.cpuUsage()
  return (): Lap => {
    const lap = process.cpuUsage(cpu)
    const ms = performance.now() - at
    at = performance.now()
    cpu = process.cpuUsage()
    return { ms, cpuMs: (lap.user + lap.system) / 1000 }
  }
}

async function run(): Promise<void> {
  const lap = stopwatch()
  const { handler } = load(bundle)
  const imported = lap()
  if (stops) {
    writeSync(3, '\n')
    process.kill(process.pid, 'SIGSTOP')
    lap()
  }
  const invoke = async (): Promise<Lap> => {
    const { statusCode, body } = await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 15_000 })
    if (statusCode >= 300) throw new Error(`${statusCode} ${body}`)
    return lap()
  }
  const first = await invoke()
  const calls = Number(warmCalls)
  if (calls === 0) return report({ imported, first, second: first, warm: [] })
  const second = await invoke()
  // The first half lets V8 compile.
  for (let call = 0; call < calls; call++) await invoke()
  const warm: Lap[] = []
  for (let call = 0; call < calls; call++) warm.push(await invoke())
  report({ imported, first, second, warm })
}

const report = (laps: ProcessReport): void => {
  writeSync(3, JSON.stringify(laps))
}

run().catch((error) => {
  process.stderr.write(`${bundle}: ${error.stack}\n`)
  process.exitCode = 1
})
