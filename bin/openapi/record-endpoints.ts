import { MAX_PREVIOUS_SECRETS, MAX_WEBHOOKS } from '../../shared/domain/webhook.ts'
import type { ExampleRecorder } from './example-recorder.ts'

const URL = 'https://hooks.example.com/clinic'

/** Records the management of webhook endpoints. All are deleted, before there is anything to deliver to them. */
export async function recordEndpoints({
  sendRequest,
  recordSuccess,
  recordError,
}: ExampleRecorder): Promise<void> {
  const made = await recordSuccess('create-webhook', '/webhooks', {
    body: { url: URL, events: ['appointment.created', 'appointment.cancelled'], description: 'Booking site' },
  })
  const { id } = made.body.data
  await recordSuccess('list-webhooks', '/webhooks')
  await recordSuccess('get-webhook', `/webhooks/${id}`)
  await recordSuccess('update-webhook', `/webhooks/${id}`, {
    body: { events: ['appointment.created'], is_active: false },
  })
  await recordError('precondition_failed', 'PATCH', `/webhooks/${id}`, {
    body: { is_active: true },
    headers: { 'if-match': '"an-earlier-etag"' },
  })
  const rotation = `/webhooks/${id}/rotate-secret`
  await recordSuccess('rotate-webhook-secret', rotation, { body: {} })
  for (let n = 1; n < MAX_PREVIOUS_SECRETS; n++) await sendRequest('POST', rotation, { body: {} })
  await recordError('too_many_rotations', 'POST', rotation, { body: {} })
  const body = { url: URL, events: ['patient.created'] }
  const others: string[] = []
  while (others.length < MAX_WEBHOOKS - 1)
    others.push((await sendRequest('POST', '/webhooks', { body })).body.data.id)
  await recordError('too_many_webhooks', 'POST', '/webhooks', { body })
  for (const other of others) await sendRequest('DELETE', `/webhooks/${other}`)
  await recordSuccess('delete-webhook', `/webhooks/${id}`)
}
