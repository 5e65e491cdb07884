/**
 * `npm run dev`: after each save, lint and types, and then the tests of `npm test` that it affects: unit tests, then the others. Vitest
 * records which files each test file loads.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { spawnEndingWithParent } from '../infra/local/process/end-with-parent.ts'
import { watchFolder } from './dev/watch-folder.ts'

/** Editors write a file in several steps, some of them under another name, and several files at once. */
const SETTLE_MS = 50
const FOLDERS = ['bin', 'functions', 'infra', 'shared', 'test']

const children = new Set<ChildProcess>()

/** Starts a program in a process group, so that the processes that it starts can be ended with it. */
function start(command: string, ...args: string[]): ChildProcess {
  const child = spawnEndingWithParent(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  })
  children.add(child)
  child.on('exit', () => children.delete(child))
  return child
}

function end(child: ChildProcess): void {
  if (children.has(child) && child.pid) process.kill(-child.pid)
}

process.on('exit', () => {
  for (const child of children) end(child)
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit())
// When npm is killed with SIGKILL, this process gets no signal.
const parent = process.ppid
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && process.exit(), 500).unref()

/** Returns whether the program succeeded; false if the next save ended it. */
async function succeeds(signal: AbortSignal, command: string, ...args: string[]): Promise<boolean> {
  if (signal.aborted) return false
  const child = start(command, ...args)
  const abort = () => end(child)
  signal.addEventListener('abort', abort)
  const [code] = await once(child, 'exit')
  signal.removeEventListener('abort', abort)
  return code === 0
}

const TIERS = ['unit', 'integration']

/** Ends when the tests have passed or failed, or with the next save. */
async function runTests(signal: AbortSignal): Promise<void> {
  for (const tier of TIERS)
    if (!(await succeeds(signal, 'vitest', 'run', '--reporter=dot', '--project', tier, '--since-last-run')))
      return
}

async function check(signal: AbortSignal, saved: readonly string[]): Promise<void> {
  const options = ['--error-on-warnings', '--no-errors-on-unmatched', '--files-ignore-unknown=true']
  const lint = succeeds(signal, 'biome', 'check', ...options, ...(saved.length > 0 ? saved : FOLDERS))
  // Tests would keep the processors busy, and an error of types from being shown.
  await Promise.all([lint, succeeds(signal, 'tsc')])
  await runTests(signal)
}

let current = new AbortController()
let running = check(current.signal, [])
let settling: NodeJS.Timeout | undefined
const saved = new Set<string>()

function restart(): void {
  clearTimeout(settling)
  settling = setTimeout(async () => {
    const files = [...saved].filter((file) => existsSync(file))
    if (files.length === 0) return
    current.abort()
    current = new AbortController()
    const { signal } = current
    await running
    if (signal.aborted) return
    saved.clear()
    running = check(signal, files)
  }, SETTLE_MS)
}

for (const folder of FOLDERS)
  watchFolder(folder, (file) => {
    saved.add(file)
    restart()
  })
