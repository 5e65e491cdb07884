import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from 'commander'
import * as z from 'zod'
import { secretIssue } from '../../../shared/domain/webhooks/webhook-secret.ts'
import { CommandFailure, type GlobalOptions, parseOption, printLines } from '../tool/output.ts'
import { type ReceivedDelivery, webhookReceiver } from './webhook-receiver.ts'

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
        onReceived: (received) =>
          printLine(json ? JSON.stringify(receivedJson(received)) : formatReceived(received)),
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

function formatReceived({ at, event, id, attempt, problem, status: answer, body }: ReceivedDelivery): string {
  const words = [
    `${at.toISOString().slice(11, 19)}Z`,
    event ?? 'no event',
    id ?? 'no id',
    attempt > 1 ? `attempt ${attempt}` : '',
    problem === undefined ? '' : problem === null ? 'verified' : `NOT VERIFIED: ${problem}`,
    `answered ${answer}`,
  ]
  return `${words.filter((word) => word !== '').join('  ')}\n  ${JSON.stringify(body)}`
}
