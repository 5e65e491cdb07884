import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from 'commander'
import * as z from 'zod'
import { listDeliveries, renderDelivery } from '../../../shared/api/deliveries.ts'
import { invalidCursor, renderCursorPage } from '../../../shared/api/schemas.ts'
import { renderWebhook } from '../../../shared/api/webhooks.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import { secretIssue } from '../../../shared/domain/webhooks/webhook-secret.ts'
import { deliveryStore } from '../../../shared/store/events/deliveries.ts'
import { webhookStore } from '../../../shared/store/events/webhooks.ts'
import { requireRecord } from '../records/change-record.ts'
import { addListCommand, addSmallResource, type SmallResource } from '../records/resource-commands.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import {
  CommandFailure,
  changeLine,
  counted,
  type GlobalOptions,
  parseOption,
  print,
  printLines,
} from '../tool/output.ts'
import { healthLines, readHealth } from './webhook-health.ts'
import { type ReceivedDelivery, webhookReceiver } from './webhook-receiver.ts'

const NOUN = 'webhook endpoint'

const webhookJson = (webhook: Webhook, clinic: Clinic) => ({
  ...renderWebhook(webhook, clinic),
  created_by: webhook.createdBy,
})

const webhooks: SmallResource<ReturnType<typeof webhookJson>> = {
  group: 'webhook',
  noun: NOUN,
  readAll: async ({ table, clinic }) =>
    (await webhookStore({ table }).list(clinic.id)).map((webhook) => webhookJson(webhook, clinic)),
  searched: 'a part of the URL, the description or the key of the credential that created it',
  textsOf: ({ url, description, created_by }) => [url, description, created_by],
  cells: ({ is_active, url, created_by, events }) => [
    is_active ? 'active' : 'disabled',
    url,
    `created by ${created_by}`,
    events.join(','),
  ],
}

async function readDeliveries(
  { table, clinic }: ClinicContext,
  { owner, ...query }: { readonly owner: string; readonly limit: number; readonly after?: string },
) {
  const { id } = await requireWebhook({ table, clinic }, owner)
  const page = await deliveryStore({ table }).page(clinic.id, id, query, Date.now())
  if (!page) throw invalidCursor()
  return renderCursorPage(page, query, (delivery) => renderDelivery(delivery, clinic))
}

/** Adds `list` to the group of deliveries. */
export function addDeliveryCommands(group: Command): void {
  addListCommand(
    group.command('list'),
    'list the deliveries of a webhook endpoint of the last 30 days, newest first',
    {
      nouns: ['delivery', 'deliveries'],
      list: { query: listDeliveries.query, read: readDeliveries },
      cells: ({ created_at, event, status, attempts }: ReturnType<typeof renderDelivery>) => [
        created_at,
        event,
        status,
        counted(attempts.length, 'attempt'),
        attempts.at(-1)?.error ?? String(attempts.at(-1)?.response_status ?? ''),
      ],
    },
    '<webhook>',
  )
}

type ListenOptions = { listen: string; secret?: string }

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
    .action(async (given: ListenOptions, command: Command) => {
      const port = parseOption('listen', Port, given.listen)
      const secret = given.secret === undefined ? undefined : parseOption('secret', Secret, given.secret)
      const { json, port: apiPort } = command.optsWithGlobals<GlobalOptions>()
      const printLine = (line: string) => printLines(command, line)
      const server = webhookReceiver({
        secret,
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
    .command('health')
    .description(
      'show how a webhook endpoint responds: whether it is slow, since when it fails, and its last outcomes',
    )
    .argument('<webhook>', 'id of the endpoint')
    .action(async (typed: string, _: object, command: Command) => {
      const context = await openClinic(command)
      const health = await readHealth(context, await requireWebhook(context, typed))
      print(command, health, healthLines(health))
    })

  group
    .command('update')
    .description('deliver nothing more to a webhook endpoint until it is enabled through the API')
    .argument('<webhook>', 'id of the endpoint')
    .option('--no-active', 'disable it')
    .action(async (id: string, { active }: { active: boolean }, command: Command) => {
      if (active) throw new CommandFailure('Nothing to change: specify --no-active.')
      const { table, clinic } = await openClinic(command)
      const updatedAt = new Date().toISOString()
      const webhook = await requireRecord(
        NOUN,
        id,
        (known) =>
          webhookStore({ table }).change(clinic.id, known, (before) =>
            before.isActive ? { ...before, isActive: false, updatedAt } : before,
          ),
        'webhook',
      )
      print(command, webhookJson(webhook, clinic), [
        changeLine(
          webhook.updatedAt === updatedAt,
          `Disabled webhook endpoint ${webhook.id}`,
          `webhook endpoint ${webhook.id} is disabled already`,
        ),
      ])
    })

  const deletion = group
    .command('delete')
    .description('delete a webhook endpoint permanently; its pending deliveries are abandoned')
    .argument('<webhook>', 'id of the endpoint')
    .action(async (typed: string, _: object, command: Command) => {
      const context = await openClinic(command)
      const { id, url } = await requireWebhook(context, typed)
      await confirm(command, [`Webhook endpoint ${id} (${url}) is deleted, with its pending deliveries.`])
      await webhookStore(context).remove(context.clinic.id, id)
      print(command, { id }, [`Deleted webhook endpoint ${id}`])
    })
  addYesOption(deletion)
}

const requireWebhook = ({ table, clinic }: ClinicContext, id: string) =>
  requireRecord(NOUN, id, (known) => webhookStore({ table }).find(clinic.id, known), 'webhook')

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
