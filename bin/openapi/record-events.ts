import { setTimeout as sleep } from 'node:timers/promises'
import { EVENTS } from '../../shared/domain/event.ts'
import { EXAMPLE_SECRET, type ExampleRecorder } from './example-recorder.ts'

/** One webhook endpoint receives every event of the recording; its deliveries are recorded last. */
export const recordEvents = {
  /** Creates the endpoint, with the secret that the document shows, so that the signatures of its examples verify. */
  subscribe: async ({ sendRequest }: ExampleRecorder, url: string): Promise<string> => {
    const { body } = await sendRequest('POST', '/webhooks', {
      body: { url, events: EVENTS, secret: EXAMPLE_SECRET },
    })
    return body.data.id
  },

  record: async ({ sendRequest, recordSuccess }: ExampleRecorder, webhook: string): Promise<void> => {
    const ping = await recordSuccess('ping-webhook', `/webhooks/${webhook}/ping`, { body: {} })
    const { id } = ping.body.data
    const path = `/webhooks/${webhook}/deliveries`
    const isDelivered = ({ status }: { status: string }) => status === 'delivered'
    while (!(await sendRequest('GET', `${path}?limit=2`)).body.data.every(isDelivered)) await sleep(50)
    await recordSuccess('list-deliveries', `${path}?limit=2`)
    await recordSuccess('redeliver', `${path}/${id}/redeliver`, { body: {} })
    await recordSuccess('list-events', '/events?limit=2')
  },
}
