import type { WebhookTransport } from './webhook-transport.ts'

/** Counts an occurrence by its outcome. */
type CountOutcome = (metric: string, dimension?: Readonly<Record<string, string>>) => void

/**
 * A transport that counts its attempts by their outcome: `delivered`, `rejected` by the receiver, or `unreachable`. One that
 * the quick lane cuts off is not counted, since the slow lane repeats it.
 */
export const countAttempts = (transport: WebhookTransport, count: CountOutcome): WebhookTransport => ({
  ...transport,
  post: async (url, headers, body, timeoutMs) => {
    const result = await transport.post(url, headers, body, timeoutMs)
    const isCutOff = result.kind === 'failed' && result.reason === 'timeout' && timeoutMs !== undefined
    if (!isCutOff) count('delivery_attempt', { outcome: outcomeOf(result) })
    return result
  },
})

const outcomeOf = (result: Awaited<ReturnType<WebhookTransport['post']>>): string => {
  if (result.kind === 'failed') return 'unreachable'
  return result.status >= 200 && result.status < 300 ? 'delivered' : 'rejected'
}
