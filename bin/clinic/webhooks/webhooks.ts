import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from 'commander'
import * as z from 'zod'
import { secretIssue } from '../../../shared/domain/webhooks/webhook-secret.ts'
import { webhookStore } from '../../../shared/store/events/webhooks.ts'
import { addSmallResource } from '../records/resource-group.ts'
import { openClinic } from '../tool/connection.ts'
import { CommandFailure, type GlobalOptions, parseOption, print, printLines } from '../tool/output.ts'
import { type ReceivedDelivery, webhookReceiver } from './webhook-receiver.ts'
import { webhookJson, webhooks } from './webhook-records.ts'

type ListenOptions = { listen: string; secret?: string; answer: string; failFirst: string }

export function addWebhookCommands(group: Command): void {
  addManagementCommands(group)

  group
    .command('listen')
    .description('receive webhooks on this machine and print them until Ctrl-C')
    .option('--listen <port>', 'port on 127.0.0.1; 0 for any free port', '4400')
    .option(
      '--secret <secret>',
      "the webhook's secret: verify signatures, and respond with 400 if verification fails",
    )
    .option('--answer <status>', 'respond with this status', '204')
    .option('--fail-first <count>', 'respond with 500 to this many attempts of every delivery', '0')
    .action(async (given: ListenOptions, command: Command) => {
      const port = parseOption('listen', wholeNumber(0, 65_535), given.listen)
      const secret = given.secret === undefined ? undefined : parseOption('secret', Secret, given.secret)
      const { json, port: apiPort } = command.optsWithGlobals<GlobalOptions>()
      const printLine = (line: string) => printLines(command, line)
      const server = webhookReceiver({
        secret,
        successStatus: parseOption('answer', wholeNumber(200, 599), given.answer),
        failFirst: parseOption('fail-first', wholeNumber(0, 1000), given.failFirst),
        onReceived: (received) =>
          printLine(json ? JSON.stringify(receivedJson(received)) : formatReceived(received)),
      })
      const host = `127.0.0.1:${await bind(server, port)}`
      printLine(json ? JSON.stringify({ listening: `http://${host}/` }) : usageText(host, apiPort, secret))
      await waitForInterrupt()
      server.close()
      server.closeAllConnections()
    })
}

/** Adds the commands for endpoints whose integrator does not respond. */
function addManagementCommands(group: Command): void {
  addSmallResource(group, webhooks)

  group
    .command('update')
    .description('deliver nothing more to a webhook endpoint until it is enabled through the API')
    .argument('<webhook>', 'id of the endpoint')
    .option('--no-active', 'disable it')
    .action(async (id: string, { active }: { active: boolean }, command: Command) => {
      if (active) throw new CommandFailure('Nothing to change: specify --no-active.')
      const { table, clinic } = await openClinic(command)
      const updatedAt = new Date().toISOString()
      const webhook = await webhookStore({ table }).change(clinic.id, id.toLowerCase(), (before) =>
        before.isActive ? { ...before, isActive: false, updatedAt } : before,
      )
      if (!webhook) throw unknownWebhook(id)
      const isChanged = webhook.updatedAt === updatedAt
      print(command, webhookJson(webhook, clinic), [
        isChanged
          ? `Disabled webhook endpoint ${webhook.id}`
          : `Nothing changed: webhook endpoint ${webhook.id} is disabled already`,
      ])
    })

  group
    .command('delete')
    .description('delete a webhook endpoint permanently; its pending deliveries are abandoned')
    .argument('<webhook>', 'id of the endpoint')
    .action(async (id: string, _: object, command: Command) => {
      const { table, clinic } = await openClinic(command)
      if (!(await webhookStore({ table }).remove(clinic.id, id.toLowerCase()))) throw unknownWebhook(id)
      print(command, { id: id.toLowerCase() }, [`Deleted webhook endpoint ${id}`])
    })
}

const unknownWebhook = (id: string) =>
  new CommandFailure(`The clinic has no webhook endpoint ${id}. "webhook list" lists all of them.`)

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .refine(
      (text) => /^\d{1,5}$/.test(text) && Number(text) >= min && Number(text) <= max,
      `must be a whole number from ${min} to ${max}`,
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
        ? `Port ${port} is in use. Choose another with --listen.`
        : `Cannot listen on port ${port}: ${error.message}`,
    )
  })
  return (server.address() as AddressInfo).port
}

const waitForInterrupt = (): Promise<unknown> =>
  Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])

function usageText(host: string, apiPort: string, secret: string | undefined): string {
  const webhook = { url: `http://${host}/`, events: ['patient.created', 'appointment.created'], secret }
  return [
    `Listening on http://${host}/ until Ctrl-C. ${secret === undefined ? 'Signatures are not verified. Pass the secret with --secret.' : 'Signatures are verified.'}`,
    '',
    '  Subscribe:',
    '',
    `  curl -H 'Authorization: Developer KEY:SECRET' -H 'content-type: application/json' \\`,
    `    -d '${JSON.stringify(webhook).replaceAll("'", "'\\''")}' \\`,
    `    'http://127.0.0.1:${apiPort}/api/developer/v1/webhooks'`,
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
