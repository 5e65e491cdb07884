import { constants } from 'node:os'

const ENDINGS = ['SIGTERM', 'SIGHUP'] as const

/**
 * A signal that is aborted by Ctrl-C, once. A second Ctrl-C, or the end of the terminal, ends the process at once, after the listeners
 * of its `exit`.
 */
export function interruptible(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const end = (name: 'SIGINT' | (typeof ENDINGS)[number]) => process.exit(128 + constants.signals[name])
  const interrupt = () => (controller.signal.aborted ? end('SIGINT') : controller.abort())
  process.on('SIGINT', interrupt)
  for (const name of ENDINGS) process.on(name, end)
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      process.off('SIGINT', interrupt)
      for (const name of ENDINGS) process.off(name, end)
    },
  }
}
