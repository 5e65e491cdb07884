// Loads a function, invokes its handler, and writes what each step took to file descriptor 3. Plain JavaScript: Node strips no types in it.
import { readFileSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'

const [, , file = '', eventFile = '', warmCalls = '0'] = process.argv
const event = readFileSync(eventFile, 'utf8')
let at = performance.now()
let cpu = process.cpuUsage()

/** What happened since the last lap. */
function lap() {
  const { user, system } = process.cpuUsage(cpu)
  const ms = performance.now() - at
  at = performance.now()
  cpu = process.cpuUsage()
  return { ms, cpuMs: (user + system) / 1000 }
}

async function invoke(count) {
  for (let call = 0; call < count; call++) {
    const { statusCode, body } = await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 15_000 })
    if (statusCode >= 300) throw new Error(`${statusCode} ${body}`)
  }
  return lap()
}

const { handler } = file.endsWith('.mjs') ? await import(file) : createRequire(import.meta.url)(file)
const start = lap()
const first = await invoke(1)
// The first half lets V8 compile.
await invoke(Number(warmCalls))
writeSync(3, JSON.stringify({ start, first, warm: await invoke(Number(warmCalls)) }))
