import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, it, vi } from 'vitest'
import type { Credential } from '../../../../shared/domain/credential.ts'
import { documentClient } from '../../../../shared/runtime/document-client.ts'
import { credentialUse } from '../../../../shared/store/credential-use.ts'
import { credentialStore } from '../../../../shared/store/credentials.ts'
import { callRetries, PATIENCE_OF_FUNCTIONS } from '../../../../shared/store/table/retries.ts'
import { openTable } from '../../../../shared/store/table/table.ts'

const GET = new GetItemCommand({ TableName: 'clinic', Key: { pk: { S: 'a' }, sk: { S: 'b' } } })
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' }

/** A client of a service that answers with the statuses in turn, then with success; `sent` counts requests. */
function clientOf(...statuses: number[]) {
  const handle = vi.fn(async () => {
    const statusCode = statuses.shift() ?? 200
    const body = statusCode === 400 ? '{"__type":"ThrottlingException"}' : '{}'
    return { response: { statusCode, headers: {}, body: new Blob([body]).stream() } }
  })
  const client = documentClient({
    region: 'us-east-1',
    credentials: CREDENTIALS,
    requestHandler: { handle } as never,
  })
  return { client, get: () => client.send(GET as never), sent: () => handle.mock.calls.length }
}

it('a call succeeds after seven errors of the server in a row', async () => {
  const { get, sent } = clientOf(500, 503, 500, 500, 500, 500, 500)
  await expect(get()).resolves.toBeDefined()
  expect(sent()).toBe(8)
})

it('throttled calls are tried again', async () => {
  const { get, sent } = clientOf(400, 400, 400)
  await expect(get()).resolves.toBeDefined()
  expect(sent()).toBe(4)
})

it('a throttled count of a request is not tried again, and fails with its cause', async () => {
  const { client, sent } = clientOf(400, 400)
  const uses = credentialUse({ table: openTable(client, 'clinic'), now: () => 0 })
  const cause = { name: 'ThrottlingException' }
  await expect(uses.countRequest({ key: 'ck_1' } as Credential)).rejects.toMatchObject({ cause })
  expect(sent()).toBe(1)
})

it('a throttled read of a credential is not tried again, and fails with its cause', async () => {
  const { client, sent } = clientOf(400, 400)
  const credentials = credentialStore({ table: openTable(client, 'clinic'), now: () => 0 })
  const cause = { name: 'ThrottlingException' }
  await expect(credentials.authenticate({ key: 'ck_1', secret: 's' })).rejects.toMatchObject({ cause })
  expect(sent()).toBe(1)
})

it('the eighth error of the server is thrown, with the number of attempts', async () => {
  const { get, sent } = clientOf(...Array(20).fill(500))
  await expect(get()).rejects.toMatchObject({ $metadata: { attempts: 8, httpStatusCode: 500 } })
  expect(sent()).toBe(8)
})

it('an error of the caller is not tried again', async () => {
  const { get, sent } = clientOf(413)
  await expect(get()).rejects.toBeDefined()
  expect(sent()).toBe(1)
})

it.each(['ConditionalCheckFailedException', 'TransactionCanceledException', 'TransactionConflictException'])(
  '%s is not tried again, even by a machine whose clock is wrong',
  async (name) => {
    // The SDK then takes every error for one of the clock, and corrects its clock.
    const headers = { date: new Date(Date.now() - 3_600_000).toUTCString() }
    const handle = vi.fn(async () => {
      const body = new Blob([JSON.stringify({ __type: name })]).stream()
      return { response: { statusCode: 400, headers, body } }
    })
    const requestHandler = { handle } as never
    const client = documentClient({ region: 'us-east-1', credentials: CREDENTIALS, requestHandler })
    await expect(client.send(GET as never)).rejects.toMatchObject({ name })
    expect(handle).toHaveBeenCalledTimes(1)
  },
)

it('no attempt begins later than four seconds after the first', async () => {
  let now = 1000
  const { acquireInitialRetryToken, refreshRetryTokenForRetry } = callRetries(
    PATIENCE_OF_FUNCTIONS,
    () => now,
    () => 0.5,
  )
  const first = await acquireInitialRetryToken()
  now += PATIENCE_OF_FUNCTIONS.lastAttemptMs - 12
  const second = await refreshRetryTokenForRetry(first, { errorType: 'TRANSIENT' })
  expect(second.getRetryDelay()).toBe(12)
  now += 13
  await expect(refreshRetryTokenForRetry(second, { errorType: 'TRANSIENT' })).rejects.toThrow()
})

it('waits double with each retry, and four times as long after throttling', async () => {
  const { acquireInitialRetryToken, refreshRetryTokenForRetry } = callRetries(
    PATIENCE_OF_FUNCTIONS,
    () => 0,
    () => 0.999,
  )
  const waits = async (errorType: string) => {
    const delays: number[] = []
    let token = await acquireInitialRetryToken()
    for (let n = 0; n < 7; n++) {
      token = await refreshRetryTokenForRetry(token, { errorType })
      delays.push(token.getRetryDelay())
    }
    return delays
  }
  expect(await waits('TRANSIENT')).toEqual([24, 49, 99, 199, 399, 799, 799])
  expect(await waits('THROTTLING')).toEqual([99, 199, 399, 799, 799, 799, 799])
})
