import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from 'commander'
import * as z from 'zod'
import { secretIssue } from '../../shared/domain/webhook-secret.ts'
import { CommandFailure, type GlobalOptions, option } from './output.ts'
import { type Received, webhookReceiver } from './webhook-receiver.ts'

type Listening = { listen: string; secret?: string; answer: string; failFirst: string }

export function addWebhookCommands(program: Command): void {
  const group = program.command('webhook').alias('webhooks').description('try out webhooks')

  group
    .command('listen')
    .description('receive webhooks on this machine, and print them, until Ctrl-C')
    .option('--listen <port>', 'on 127.0.0.1; 0 for any that is free', '4400')
    .option(
      '--secret <secret>',
      "the webhook's: signatures are verified, and what fails is answered with 400",
    )
    .option('--answer <status>', 'answer with this status', '204')
    .option('--fail-first <count>', 'answer that many attempts of every delivery with 500', '0')
    .action(async (given: Listening, command: Command) => {
      const port = option('listen', wholeNumber(0, 65_535), given.listen)
      const secret = given.secret === undefined ? undefined : option('secret', Secret, given.secret)
      const { json, port: apiPort } = command.optsWithGlobals<GlobalOptions>()
      const say = (line: string) => process.stdout.write(`${line}\n`)
      const server = webhookReceiver({
        secret,
        answer: option('answer', wholeNumber(200, 599), given.answer),
        failFirst: option('fail-first', wholeNumber(0, 1000), given.failFirst),
        tell: (received) => say(json ? JSON.stringify(shown(received)) : inWords(received)),
      })
      const host = `127.0.0.1:${await bind(server, port)}`
      say(json ? JSON.stringify({ listening: `http://${host}/` }) : introduction(host, apiPort, secret))
      await untilInterrupted()
      server.close()
      server.closeAllConnections()
    })
}

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .refine(
      (text) => /^\d{1,5}$/.test(text) && Number(text) >= least && Number(text) <= most,
      `must be a whole number from ${least} to ${most}`,
    )
    .transform(Number)

const Secret = z.string().superRefine((text, context) => {
  const message = secretIssue(text)
  if (message) context.addIssue({ code: 'custom', message })
})

async function bind(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailure(
      error.code === 'EADDRINUSE'
        ? `Port ${port} is taken; choose another with --listen.`
        : `Nothing can listen on port ${port}: ${error.message}`,
    )
  })
  return (server.address() as AddressInfo).port
}

const untilInterrupted = (): Promise<unknown> =>
  Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])

function introduction(host: string, apiPort: string, secret: string | undefined): string {
  const webhook = { url: `http://${host}/`, events: ['patient.created', 'appointment.created'], secret }
  return [
    `Listening on http://${host}/ until Ctrl-C. ${secret === undefined ? 'Signatures are not verified: give the secret with --secret.' : 'Signatures are verified.'}`,
    '',
    '  Start the API:',
    '',
    `  npm start -- --allow-webhook-host ${host}`,
    '',
    '  Subscribe:',
    '',
    `  curl -H 'Authorization: Developer KEY:SECRET' -H 'content-type: application/json' \\`,
    `    -d '${JSON.stringify(webhook).replaceAll("'", "'\\''")}' \\`,
    `    'http://127.0.0.1:${apiPort}/api/developer/v1/webhooks'`,
    '',
  ].join('\n')
}

const shown = ({ at, event, id, attempt, problem, answer, body }: Received) => ({
  at: at.toISOString(),
  event,
  id,
  attempt,
  verified: problem === undefined ? null : problem === null,
  ...(problem && { problem }),
  answer,
  body,
})

function inWords({ at, event, id, attempt, problem, answer, body }: Received): string {
  const words = [
    at.toTimeString().slice(0, 8),
    event ?? 'no event',
    id ?? 'no id',
    attempt > 1 ? `attempt ${attempt}` : '',
    problem === undefined ? '' : problem === null ? 'verified' : `NOT VERIFIED: ${problem}`,
    `answered ${answer}`,
  ]
  return `${words.filter((word) => word !== '').join('  ')}\n  ${JSON.stringify(body)}`
}
