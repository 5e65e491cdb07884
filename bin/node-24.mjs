// Plain JavaScript, because the machine's own Node may be older than the one that npm installs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Continues in a Node that runs TypeScript: this one, or else the one in node_modules, which gets the arguments and the signals. */
export async function requireNode24() {
  if (Number.parseInt(process.versions.node, 10) >= 24) return
  const node = join(import.meta.dirname, '../node_modules/.bin/node')
  if (!existsSync(node)) {
    process.stderr.write(`This needs Node 24 or later; Node ${process.versions.node} is running.\n`)
    process.exit(1)
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  // When npm is killed with SIGKILL, this process gets no signal.
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && child.kill(), 500).unref()
  const [code] = await once(child, 'exit')
  process.exit(code ?? 1)
}
