import { createServer, type IncomingMessage, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook } from './webhook-verification.ts'

/** One delivery, as it came and was answered. */
export type Received = {
  readonly at: Date
  /** Null where the delivery does not tell, as below. */
  readonly event: string | null
  readonly id: string | null
  /** From 1, of those with the same id. */
  readonly attempt: number
  /** Why it is not to be trusted; null when it is, undefined when nobody has asked. */
  readonly problem: string | null | undefined
  readonly answer: number
  /** What its JSON says, or the text that is no JSON. */
  readonly body: unknown
}

type Options = {
  /** Whose signatures are asked for. */
  readonly secret: string | undefined
  /** The status of what is taken. */
  readonly answer: number
  /** That many attempts of every delivery are refused, to see it tried again. */
  readonly failFirst: number
  readonly tell: (received: Received) => void
  readonly now?: () => number
}

/** Takes webhooks as an integrator's server would: what does not verify is refused. */
export function webhookReceiver({ secret, answer, failFirst, tell, now = Date.now }: Options): Server {
  const attempts = new Map<string | null, number>()

  const take = async (request: IncomingMessage): Promise<Received> => {
    const raw = await buffer(request)
    const body = parsed(raw.toString())
    const id = textOf(request.headers['webhook-id'])
    const attempt = (attempts.get(id) ?? 0) + 1
    attempts.set(id, attempt)
    const problem = secret === undefined ? undefined : problemOf(() => verify(request, raw, secret))
    const status = problem ? 400 : attempt <= failFirst ? 500 : answer
    const event = textOf((body as { event?: unknown } | null)?.event)
    return { at: new Date(now()), event, id, attempt, problem, answer: status, body }
  }
  const verify = ({ headers }: IncomingMessage, raw: Buffer, key: string) =>
    verifyWebhook(headers, raw, key, now())

  return createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end()
    take(request).then(
      (received) => {
        response.writeHead(received.answer).end()
        tell(received)
      },
      () => response.destroy(), // the sender went away in the middle
    )
  })
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function problemOf(check: () => void): string | null {
  try {
    check()
    return null
  } catch (error) {
    return (error as Error).message
  }
}
