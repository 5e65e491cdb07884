import { setTimeout as sleep } from 'node:timers/promises'
import { EVENTS } from '../../shared/domain/event.ts'
import { EXAMPLE_SECRET, type ExampleRecorder } from './example-recorder.ts'

/** The endpoint that hears of everything, and is looked at afterwards. */
export const recordEvents = {
  /** Signs with the secret that the document shows, so that its examples verify. */
  subscribe: async ({ sendRequest: ask }: ExampleRecorder, url: string): Promise<string> => {
    const { body } = await ask('POST', '/webhooks', { body: { url, events: EVENTS, secret: EXAMPLE_SECRET } })
    return body.data.id
  },

  record: async (
    { sendRequest: ask, recordSuccess: succeed }: ExampleRecorder,
    webhook: string,
  ): Promise<void> => {
    const ping = await succeed('ping-webhook', `/webhooks/${webhook}/ping`, { body: {} })
    const { id } = ping.body.data
    const path = `/webhooks/${webhook}/deliveries`
    for (let status = ''; status !== 'delivered'; await sleep(50))
      status = (await ask('GET', `${path}?limit=1`)).body.data[0].status
    await succeed('list-deliveries', `${path}?limit=2`)
    await succeed('redeliver', `${path}/${id}/redeliver`, { body: {} })
    await succeed('list-events', '/events?limit=2')
  },
}
