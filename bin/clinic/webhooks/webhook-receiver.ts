import { createServer, type IncomingMessage, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook } from '../../../shared/clients/typescript/webhook.ts'

/** One delivery with its verification and response. */
export type ReceivedDelivery = {
  readonly at: Date
  /** Null if the delivery has none, like `id`. */
  readonly event: string | null
  readonly id: string | null
  /** From 1, among deliveries with the same id. */
  readonly attempt: number
  /** Why verification failed; null if it succeeded, undefined without a secret. */
  readonly problem: string | null | undefined
  readonly status: number
  /** The parsed JSON, or the text if it is not JSON. */
  readonly body: unknown
}

type ReceiverOptions = {
  /** Verifies signatures with this secret. */
  readonly secret: string | undefined
  readonly onReceived: (received: ReceivedDelivery) => void
  readonly now?: () => number
}

/** Receives webhooks as an integrator's server would. A delivery that fails verification gets a 400. */
export function webhookReceiver({ secret, onReceived, now = Date.now }: ReceiverOptions): Server {
  const attempts = new Map<string | null, number>()

  const receive = async (request: IncomingMessage): Promise<ReceivedDelivery> => {
    const raw = await buffer(request)
    const body = parseJson(raw.toString())
    const id = stringOrNull(request.headers['webhook-id'])
    const attempt = (attempts.get(id) ?? 0) + 1
    attempts.set(id, attempt)
    const problem = secret === undefined ? undefined : await problemOf(request, raw, secret)
    const status = problem ? 400 : 204
    const event = stringOrNull((body as { event?: unknown } | null)?.event)
    return { at: new Date(now()), event, id, attempt, problem, status, body }
  }
  const problemOf = ({ headers }: IncomingMessage, body: Buffer, key: string): Promise<string | null> =>
    verifyWebhook({ headers, body, secret: key, now: now() }).then(
      () => null,
      (error: Error) => error.message,
    )

  return createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end()
    receive(request).then(
      (received) => {
        response.writeHead(received.status).end()
        onReceived(received)
      },
      () => response.destroy(), // the sender closed the connection
    )
  })
}

const stringOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
