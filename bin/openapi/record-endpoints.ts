import { MAX_WEBHOOKS } from '../../shared/domain/webhook.ts'
import type { ExampleRecorder } from './example-recorder.ts'

const URL = 'https://hooks.example.com/clinic'

/** Webhook endpoints come and go, before there is anything to deliver to them. */
export async function recordEndpoints({
  sendRequest: ask,
  recordSuccess: succeed,
  recordError: refuse,
}: ExampleRecorder): Promise<void> {
  const made = await succeed('create-webhook', '/webhooks', {
    body: { url: URL, events: ['appointment.created', 'appointment.cancelled'], description: 'Booking site' },
  })
  const { id } = made.body.data
  await succeed('list-webhooks', '/webhooks')
  await succeed('update-webhook', `/webhooks/${id}`, {
    body: { events: ['appointment.created'], is_active: false },
  })
  await succeed('rotate-webhook-secret', `/webhooks/${id}/rotate-secret`, { body: {} })
  const body = { url: URL, events: ['patient.created'] }
  const others: string[] = []
  while (others.length < MAX_WEBHOOKS - 1)
    others.push((await ask('POST', '/webhooks', { body })).body.data.id)
  await refuse('too_many_webhooks', 'POST', '/webhooks', { body })
  for (const other of others) await ask('DELETE', `/webhooks/${other}`)
  await succeed('delete-webhook', `/webhooks/${id}`)
}
