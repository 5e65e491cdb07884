import { createServer, type IncomingMessage, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook } from './webhook-verification.ts'

/** One delivery, as it came and was answered. */
export type ReceivedDelivery = {
  readonly at: Date
  /** Null where the delivery does not tell, as below. */
  readonly event: string | null
  readonly id: string | null
  /** From 1, of those with the same id. */
  readonly attempt: number
  /** Why it is not to be trusted; null when it is, undefined when nobody has asked. */
  readonly problem: string | null | undefined
  readonly status: number
  /** What its JSON says, or the text that is no JSON. */
  readonly body: unknown
}

type ReceiverOptions = {
  /** Whose signatures are asked for. */
  readonly secret: string | undefined
  /** The status of what is taken. */
  readonly successStatus: number
  /** That many attempts of every delivery are refused, to see it tried again. */
  readonly failFirst: number
  readonly onReceived: (received: ReceivedDelivery) => void
  readonly now?: () => number
}

/** Takes webhooks as an integrator's server would: what does not verify is refused. */
export function webhookReceiver({
  secret,
  successStatus: answer,
  failFirst,
  onReceived: tell,
  now = Date.now,
}: ReceiverOptions): Server {
  const attempts = new Map<string | null, number>()

  const receive = async (request: IncomingMessage): Promise<ReceivedDelivery> => {
    const raw = await buffer(request)
    const body = parseJson(raw.toString())
    const id = stringOrNull(request.headers['webhook-id'])
    const attempt = (attempts.get(id) ?? 0) + 1
    attempts.set(id, attempt)
    const problem = secret === undefined ? undefined : errorMessageOf(() => verify(request, raw, secret))
    const status = problem ? 400 : attempt <= failFirst ? 500 : answer
    const event = stringOrNull((body as { event?: unknown } | null)?.event)
    return { at: new Date(now()), event, id, attempt, problem, status, body }
  }
  const verify = ({ headers }: IncomingMessage, raw: Buffer, key: string) =>
    verifyWebhook(headers, raw, key, now())

  return createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end()
    receive(request).then(
      (received) => {
        response.writeHead(received.status).end()
        tell(received)
      },
      () => response.destroy(), // the sender went away in the middle
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

function errorMessageOf(check: () => void): string | null {
  try {
    check()
    return null
  } catch (error) {
    return (error as Error).message
  }
}
