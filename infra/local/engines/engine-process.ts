import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { access, constants } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawnEndingWithParent } from '../process/end-with-parent.ts'
import { onProcessExit } from '../process/on-exit.ts'

export type EngineProcess = {
  readonly endpoint: string
  /** Undefined for an engine that this process has not started. */
  readonly pid?: number | undefined
  readonly stop: () => Promise<void>
}

type Options = {
  readonly name: string
  readonly binary: string
  readonly args: (port: number) => string[]
  /** Called once if the engine exits without having been stopped. */
  readonly onUnexpectedExit: (message: string) => void
}

const MAX_ATTEMPTS = 3
const START_TIMEOUT_MS = 10_000

/**
 * Starts an HTTP engine on a free port, and on another one if another process takes that port first. The engine ends with this
 * process.
 * @throws Error with the last lines that the engine wrote to stderr
 */
export async function startEngineProcess(options: Options): Promise<EngineProcess> {
  await access(options.binary, constants.X_OK).catch((error: Error) => {
    throw new Error(`${options.name} did not start: ${error.message}`)
  })
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const run = launch(options, port)
    if (await becomesReady(run, `http://127.0.0.1:${port}/`)) return monitor(run, port, options)
    await run.kill()
    if (attempt === MAX_ATTEMPTS) throw new Error(`${options.name} did not start: ${run.lastLines()}`)
  }
}

type Run = {
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  readonly lastLines: () => string
  readonly kill: () => Promise<void>
}

/** Starts the engine in a process group: Ctrl-C reaches only the runner, which stops the engine after the last response. */
function launch({ binary, args }: Options, port: number): Run {
  const child = spawnEndingWithParent(binary, args(port), {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-2000)
  })
  const ended = Promise.race([once(child, 'exit'), once(child, 'error')]).catch((error: Error) => {
    stderr += error.message
  })
  const release = onProcessExit(() => child.kill('SIGKILL'))
  void ended.then(release)
  return {
    child,
    ended,
    lastLines: () => stderr.trim().split('\n').slice(-10).join('\n') || `exit code ${child.exitCode}`,
    kill: async () => {
      child.kill('SIGKILL')
      if (child.pid !== undefined) await ended
    },
  }
}

function monitor(run: Run, port: number, { name, onUnexpectedExit }: Options): EngineProcess {
  let stopping = false
  void run.ended.then(() => {
    if (!stopping) onUnexpectedExit(`${name} exited unexpectedly: ${run.lastLines()}`)
  })
  return {
    endpoint: `http://127.0.0.1:${port}`,
    pid: run.child.pid,
    stop: async () => {
      stopping = true
      // Time to close a database file properly.
      run.child.kill('SIGTERM')
      await Promise.race([run.ended, sleep(1000, undefined, { ref: false })])
      await run.kill()
    },
  }
}

async function becomesReady(run: Run, url: string): Promise<boolean> {
  const timeout = AbortSignal.timeout(START_TIMEOUT_MS)
  let alive = true
  void run.ended.then(() => {
    alive = false
  })
  while (alive && !timeout.aborted) {
    const isReady = await fetch(url, { signal: timeout }).then(
      (response) => response.ok,
      () => false,
    )
    // If the engine could not bind the port, another program may have responded.
    await sleep(20)
    if (isReady) return alive
  }
  return false
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await server[Symbol.asyncDispose]()
  return port
}
