/** `webhook listen`: receives webhooks on this machine. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Command } from 'commander'
import * as z from 'zod'
import { verifyWebhook } from '../../../shared/clients/typescript/webhook.ts'
import { secretIssue } from '../../../shared/domain/webhooks/webhook-secret.ts'
import { CommandFailure, type GlobalOptions, parseOption, printLines } from '../tool/output.ts'

type ListenOptions = { listen: string; secret?: string }

export function addWebhookCommands(group: Command): void {
  group
    .command('listen')
    .description('receive webhooks on this machine and print them until Ctrl-C')
    .option('--listen <port>', 'port on 127.0.0.1; 0 for any free port', '4400')
    .option(
      '--secret <secret>',
      "the webhook's secret: verify signatures, and respond with 400 if verification fails",
    )
    .action(async (given: ListenOptions, command: Command) => {
      const port = parseOption('listen', Port, given.listen)
      const secret = given.secret === undefined ? undefined : parseOption('secret', Secret, given.secret)
      const { json } = command.optsWithGlobals<GlobalOptions>()
      const printLine = (line: string) => printLines(command, line)
      const server = webhookReceiver({
        secret,
        onReceived: (received) => printLine(JSON.stringify(receivedJson(received))),
      })
      const host = `127.0.0.1:${await bind(server, port)}`
      printLine(json ? JSON.stringify({ listening: `http://${host}/` }) : usageText(host, secret))
      await waitForInterrupt()
      server.close()
      server.closeAllConnections()
    })
}

const NO_PORT = 'must be a whole number from 0 to 65535'
const Port = z.coerce.number(NO_PORT).int(NO_PORT).min(0, NO_PORT).max(65_535, NO_PORT)

const Secret = z.string().superRefine((text, context) => {
  const message = secretIssue(text)
  if (message) context.addIssue({ code: 'custom', message })
})

async function bind(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailure(
      error.code === 'EADDRINUSE'
        ? `Port ${port} is in use. Choose another with --listen.`
        : `Cannot listen on port ${port}: ${error.message}`,
    )
  })
  return (server.address() as AddressInfo).port
}

const waitForInterrupt = (): Promise<unknown> =>
  Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])

function usageText(host: string, secret: string | undefined): string {
  const own = secret === undefined ? '' : ` --secret ${secret}`
  return [
    `Listening on http://${host}/ until Ctrl-C. ${secret === undefined ? 'Signatures are not verified. Pass the secret with --secret.' : 'Signatures are verified.'}`,
    '',
    `  Subscribe: clinic webhook create --url http://${host}/ --events patient.created,appointment.created${own}`,
    '',
  ].join('\n')
}

const receivedJson = ({ at, event, id, attempt, problem, status: answer, body }: ReceivedDelivery) => ({
  at: at.toISOString(),
  event,
  id,
  attempt,
  verified: problem === undefined ? null : problem === null,
  ...(problem && { problem }),
  answer,
  body,
})

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
