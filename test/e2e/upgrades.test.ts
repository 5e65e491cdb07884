/** Today's code on the tables of earlier releases: docs/operate/upgrade.md says what this proves. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { onTable } from '../../bin/local/clinics.ts'
import { keyText } from '../../shared/store/keys/key.ts'
import { runKey } from '../../shared/store/keys/operator.ts'
import type { Item } from '../../shared/store/table/write-requests.ts'
import { allItems } from '../support/all-items.ts'
import { testClient } from '../support/dynamodb/test-client.ts'
import { get, type RunningStack, runStack, spawnClinicTool } from '../support/local-stack.ts'
import { RECORDED_RELEASES, type ReleaseFixture, readRelease } from '../support/release-fixture.ts'

/** Deliveries and emails of then are due, and nothing has expired. */
const LATER_MS = 20 * 60_000

describe.each(RECORDED_RELEASES)('a table of %s', (release) => {
  let fixture: ReleaseFixture
  let stack: RunningStack
  const received: string[] = []
  const receiver = createServer(async (request, response) => {
    received.push(`${request.url} ${JSON.parse(await text(request)).id}`)
    response.writeHead(204).end()
  })

  beforeAll(async () => {
    await once(receiver.listen(0, '127.0.0.1'), 'listening')
    const address = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
    fixture = readRelease(release, address)
    const offset = fixture.recordedAt + LATER_MS - Date.now()
    stack = await runStack({
      demo: false,
      allowedWebhookHost: address,
      clockOffset: new Float64Array(new SharedArrayBuffer(8)).fill(offset),
      seed: async (started) => {
        // The engine's clock, which deletes what has expired, is not moved.
        const items = fixture.items.map(
          ({ ttl, ...item }): Item =>
            typeof ttl === 'number' ? { ...item, ttl: ttl - Math.min(0, offset) / 1000 } : item,
        )
        await onTable(started, (table) => table.putMany(items))
        return { clock_offset_ms: offset }
      },
    })
  })
  afterAll(async () => {
    receiver.close()
    await stack?.close()
  })

  const read = (path: string, pair = fixture.credential) => get(stack, path, pair)
  const stored = () => allItems({ name: stack.outputs.TableName ?? '' }, testClient(stack.endpoints.dynamodb))

  async function expectResponses(): Promise<void> {
    for (const [path, then] of Object.entries(fixture.responses)) {
      const { status, body } = await read(path)
      expect({ path, status, body }).toMatchObject({ path, status: 200, body: then })
    }
  }

  it('answers as that release did, in lists, records and events, and after its cursors', expectResponses)

  it('replays its stored responses byte for byte', async () => {
    for (const { key, body, status, text } of fixture.repeated) {
      // The document of today may require fields that the response of then lacks.
      const repeated = await fetch(`${stack.api}/patients`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Developer ${fixture.credential}`,
          'idempotency-key': key,
        },
        body: JSON.stringify(body),
      })
      expect([repeated.status, await repeated.text()]).toEqual([status, text])
    }
  })

  it('accepts the previous secret of a credential within its time', async () => {
    const statuses = fixture.rotated.map(async (pair) => (await read('/me', pair)).status)
    expect(await Promise.all(statuses)).toEqual([200, 200])
  })

  it('delivers its pending events and sends its waiting emails, once', async () => {
    const isPending = ({ pk, status }: Item) => pk.includes('#WD#') && status === 'pending'
    const eventsOf = (items: readonly Item[]) =>
      items.filter(isPending).map(({ webhook, eventId }) => `${webhook} ${eventId}`)
    const pending = eventsOf(fixture.items)
    expect(pending.length).toBeGreaterThan(0)
    await vi.waitFor(async () => expect(eventsOf(await stored())).toEqual([]), {
      timeout: 300_000,
      interval: 1000,
    })
    expect(new Set(received).size).toBe(pending.length)
    // A busy receiver can get an event again that was cut off after a second, but none after its success.
    const successes = ({ attempts }: Item) =>
      (attempts as { status: number }[]).filter(({ status }) => status === 204)
    const deliveries = (await stored()).filter(({ pk }) => pk.includes('#WD#'))
    expect(deliveries.filter((delivery) => successes(delivery).length !== 1)).toEqual([])
    const waiting = fixture.items.filter(({ di, ch }) => di && ch === 'email').map(({ to }) => to)
    const inbox = (await (await fetch(stack.emailInboxUrl)).json()) as { to: string[] }[]
    expect(inbox.flatMap(({ to }) => to).sort()).toEqual(waiting.sort())
  }, 400_000)

  it('is sound once it is migrated, and answers as before; a second migration changes nothing', async () => {
    const tool = (...args: string[]) => spawnClinicTool(stack, ...args)
    expect((await tool('migrate')).code).toBe(0)
    const { code, stdout } = await tool('verify', '--clinic', fixture.clinic)
    expect([code, stdout]).toEqual([0, expect.any(String)])
    await expectResponses()
    const migrated = await stored()
    expect((await tool('migrate')).code).toBe(0)
    const after = new Map((await stored()).map((item) => [keyText(item), item]))
    const changed = migrated.filter((item) => !isDeepStrictEqual(after.get(keyText(item)), item))
    expect(changed.map(keyText)).toEqual([keyText(runKey('migrate'))])
  })
})
