// Loads a function, invokes its handler, and writes what each step took to file descriptor 3. On request, it stops before the
// first call, until a signal continues it. Plain JavaScript: Node strips no types in it.
import { readFileSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'

const [, , file = '', eventFile = '', warmCalls = '0', stops = ''] = process.argv
const event = readFileSync(eventFile, 'utf8')

/** What happened since the last lap. */
function stopwatch() {
  let at = performance.now()
  let cpu = process.cpuUsage()
  return () => {
    const lap = process.cpuUsage(cpu)
    const ms = performance.now() - at
    at = performance.now()
    cpu = process.cpuUsage()
    return { ms, cpuMs: (lap.user + lap.system) / 1000 }
  }
}

const lap = stopwatch()
const { handler } = file.endsWith('.mjs') ? await import(file) : createRequire(import.meta.url)(file)
const imported = lap()
if (stops) {
  writeSync(3, '\n')
  process.kill(process.pid, 'SIGSTOP')
  lap()
}
const invoke = async () => {
  const { statusCode, body } = await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 15_000 })
  if (statusCode >= 300) throw new Error(`${statusCode} ${body}`)
  return lap()
}
const invokeTimes = async (count) => {
  const laps = []
  for (let call = 0; call < count; call++) laps.push(await invoke())
  return laps
}
const first = await invoke()
const calls = Number(warmCalls)
const second = calls > 0 ? await invoke() : first
// The first half lets V8 compile.
await invokeTimes(calls)
writeSync(3, JSON.stringify({ imported, first, second, warm: await invokeTimes(calls) }))
