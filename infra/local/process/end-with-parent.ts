import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import type { Writable } from 'node:stream'

/**
 * Kills the program when its input ends, which happens however the parent ends. The shell replaces itself with the
 * program, so that its process id is the program's. A line of input ends the watch.
 */
const WATCH_INPUT = '(read -r _ || kill -9 $$) <&3 >/dev/null 2>&1 & exec "$@" 3<&-'

/**
 * Like `spawn`, with a child that the system kills when this process ends, even by SIGKILL. On Linux the kernel does
 * that (`prctl`, through util-linux's setpriv); elsewhere it costs a small shell process beside the child. On Windows
 * the child is not killed.
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
  // Otherwise the watching shell could kill another process that has got the same id.
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
