import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the DynamoDB engine that the whole run shares; every test has a table of its own. */
    dynamodb: string
  }
}

/** Starts one engine for the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { endpoint, stop } = await startEngine()
  project.provide('dynamodb', endpoint)
  return stop
}

/** An engine in memory, on a free port of this machine. */
export async function startEngine(): Promise<{ endpoint: string; stop: () => Promise<void> }> {
  const binary = createRequire(import.meta.url).resolve(
    `@dynoxide/${process.platform}-${process.arch}/dynoxide`,
  )
  const port = await freePort()
  const engine = spawn(binary, ['serve', '--host', '127.0.0.1', '--port', String(port)], { stdio: 'ignore' })
  const endpoint = `http://127.0.0.1:${port}`
  await untilAnswering(endpoint, engine)
  return {
    endpoint,
    stop: async () => {
      engine.kill()
      await once(engine, 'exit')
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

async function untilAnswering(endpoint: string, engine: ChildProcess): Promise<void> {
  for (;;) {
    if (engine.exitCode !== null) throw new Error(`the engine ended with code ${engine.exitCode}`)
    try {
      await fetch(endpoint)
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
