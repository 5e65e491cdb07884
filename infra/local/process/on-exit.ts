const cleanups = new Set<() => void>()

/**
 * The net under close(): runs `cleanup`, which must be synchronous, when this process ends in whatever way it can
 * still notice. Returns what takes the net away.
 */
export function onProcessExit(cleanup: () => void): () => void {
  if (cleanups.size === 0) toggleListeners('on')
  cleanups.add(cleanup)
  return () => {
    if (cleanups.delete(cleanup) && cleanups.size === 0) toggleListeners('off')
  }
}

function toggleListeners(change: 'on' | 'off'): void {
  process[change]('exit', cleanUp)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process[change](signal, onSignal)
}

/** The last first: a process goes before the directory that it writes to. */
function cleanUp(): void {
  for (const cleanup of [...cleanups].reverse()) cleanup()
}

function onSignal(signal: NodeJS.Signals): void {
  // Whoever else listens decides how this process ends, and closes the stack.
  if (process.listenerCount(signal) > 1) return
  cleanUp()
  process.off(signal, onSignal)
  process.kill(process.pid, signal)
}
