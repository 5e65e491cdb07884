import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RecordedDelivery } from '../../shared/api/openapi/examples.ts'

const TIMEOUT_MS = 60_000

/** Opens a webhook receiver on this machine that accepts every delivery. */
export async function openReceiver() {
  const arrived = new Map<string, RecordedDelivery>()
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    const body = JSON.parse(text)
    const { headers } = request
    const signature = Object.entries(headers).filter(([name]) => name.startsWith('webhook-'))
    // The first of each event, so that later events change no example.
    if (!arrived.has(body.event))
      arrived.set(body.event, { headers: Object.fromEntries(signature) as Record<string, string>, body })
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    host,
    url: `http://${host}/webhooks`,
    /** Waits for a delivery of each event and returns them by event. @throws Error naming the events that did not arrive */
    waitForAll: async (names: readonly string[]): Promise<Record<string, RecordedDelivery>> => {
      for (const until = Date.now() + TIMEOUT_MS; ; await sleep(100)) {
        const missing = names.filter((name) => !arrived.has(name))
        if (missing.length === 0)
          return Object.fromEntries(names.map((name) => [name, arrived.get(name) as RecordedDelivery]))
        if (Date.now() > until) throw new Error(`No delivery arrived for ${missing.join(', ')}.`)
      }
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>
