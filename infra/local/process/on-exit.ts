const cleanups = new Set<() => void>()

/**
 * Runs `cleanup`, which must be synchronous, when this process exits without close(): by exit, SIGINT or SIGTERM.
 * Returns a function that unregisters it.
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

/** Cleans up in reverse order, so that a process ends before the directory that it writes to is removed. */
function cleanUp(): void {
  for (const cleanup of [...cleanups].reverse()) cleanup()
}

function onSignal(signal: NodeJS.Signals): void {
  // Another listener closes the stack and decides how this process ends.
  if (process.listenerCount(signal) > 1) return
  cleanUp()
  process.off(signal, onSignal)
  process.kill(process.pid, signal)
}
