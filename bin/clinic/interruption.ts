/** A signal that is aborted by Ctrl-C, once. A second Ctrl-C ends the process at once. */
export function interruptible(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const stop = () => controller.abort()
  process.once('SIGINT', stop)
  return { signal: controller.signal, [Symbol.dispose]: () => void process.off('SIGINT', stop) }
}
