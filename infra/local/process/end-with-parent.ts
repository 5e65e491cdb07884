import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import type { Writable } from 'node:stream'

/**
 * Kills the program at the end of input, which comes when the parent ends in any way. The shell replaces itself with
 * the program, so that both have the same process id. A line of input ends the watch.
 */
const WATCH_INPUT = '(read -r _ || kill -9 $$) <&3 >/dev/null 2>&1 & exec "$@" 3<&-'

/**
 * Like `spawn`, but the child is killed when this process ends, even by SIGKILL. On Linux the kernel does that
 * (`prctl`, through setpriv of util-linux); elsewhere a small shell process watches this one. On Windows the child is
 * not killed.
 */
export function spawnEndingWithParent(
  binary: string,
  args: readonly string[],
  options: SpawnOptions,
  mechanism: Mechanism = availableMechanism(),
): ChildProcess {
  if (mechanism === 'none') return spawn(binary, args, options)
  if (mechanism === 'kernel') return spawn('setpriv', ['--pdeathsig', 'KILL', binary, ...args], options)
  const child = spawn('sh', ['-c', WATCH_INPUT, 'sh', binary, ...args], {
    ...options,
    stdio: [...(options.stdio as []), 'pipe'],
  })
  const input = child.stdio[3] as Writable
  input.on('error', () => {})
  // The line ends the shell, which could otherwise kill another process that reuses the id.
  child.on('exit', () => input.end('\n'))
  return child
}

export type Mechanism = 'kernel' | 'shell' | 'none'

let available: Mechanism | undefined

function availableMechanism(): Mechanism {
  available ??=
    process.platform === 'win32'
      ? 'none'
      : spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0
        ? 'kernel'
        : 'shell'
  return available
}
