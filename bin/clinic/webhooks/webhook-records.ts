/** The commands that read webhook endpoints and their deliveries. */
import type { Command } from 'commander'
import { listDeliveries, renderDelivery } from '../../../shared/api/deliveries.ts'
import { invalidCursor, renderCursorPage } from '../../../shared/api/schemas.ts'
import { renderWebhook } from '../../../shared/api/webhooks.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import { deliveryStore } from '../../../shared/store/events/deliveries.ts'
import { webhookStore } from '../../../shared/store/events/webhooks.ts'
import { addListCommand } from '../records/list-command.ts'
import type { SmallResource } from '../records/resource-group.ts'
import type { ClinicContext } from '../tool/connection.ts'
import { CommandFailure } from '../tool/output.ts'

export const webhookJson = (webhook: Webhook, clinic: Clinic) => ({
  ...renderWebhook(webhook, clinic),
  created_by: webhook.createdBy,
})

export const webhooks: SmallResource<ReturnType<typeof webhookJson>> = {
  group: 'webhook',
  noun: 'webhook endpoint',
  plural: 'webhook endpoints',
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
  const id = owner.toLowerCase()
  const webhook = await webhookStore({ table }).find(clinic.id, id)
  if (!webhook)
    throw new CommandFailure('The clinic has no such webhook endpoint. "webhook list" lists all of them.')
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
      noun: 'delivery',
      plural: 'deliveries',
      list: { query: listDeliveries.query, read: readDeliveries },
      cells: ({ created_at, event, status, attempts }: ReturnType<typeof renderDelivery>) => [
        created_at,
        event,
        status,
        `${attempts.length} attempts`,
        attempts.at(-1)?.error ?? String(attempts.at(-1)?.response_status ?? ''),
      ],
    },
    '<webhook>',
  )
}
