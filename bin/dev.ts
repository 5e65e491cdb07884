/**
 * `npm run dev`: after each save, lint, types and the unit tests that it affects; if these pass, the other affected tests of
 * `npm test`. Vitest records which files each test file loads.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'

/** Editors write a file in several steps, and several files at once. */
const SETTLE_MS = 50
const FOLDERS = ['bin', 'functions', 'infra', 'shared', 'test']

const start = (command: string, ...args: string[]): ChildProcess => spawn(command, args, { stdio: 'inherit' })

/** Ends when the tests have passed or failed, or with the next save. */
async function runAffectedTests(signal: AbortSignal): Promise<void> {
  for (const tier of ['unit', 'integration']) {
    const tests = start('vitest', 'run', '--since-last-run', '--project', tier)
    const end = () => tests.kill()
    signal.addEventListener('abort', end)
    const [code] = await once(tests, 'exit')
    signal.removeEventListener('abort', end)
    if (code !== 0) return
  }
}

start('biome', 'check', '--error-on-warnings', '--watch', ...FOLDERS)
start('tsc', '--noEmit', '--watch', '--preserveWatchOutput')

let current = new AbortController()
let running = runAffectedTests(current.signal)
let settling: NodeJS.Timeout | undefined

function restartTests(): void {
  clearTimeout(settling)
  settling = setTimeout(async () => {
    current.abort()
    current = new AbortController()
    const { signal } = current
    await running
    if (!signal.aborted) running = runAffectedTests(signal)
  }, SETTLE_MS)
}

for (const folder of FOLDERS) watch(folder, { recursive: true }, restartTests)
