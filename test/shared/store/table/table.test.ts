/** The errors that the table derives from DynamoDB's, with the client mocked: the engine has few of them. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import {
  DynamoDBDocumentClient,
  GetCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { documentClient } from '../../../../shared/runtime/document-client.ts'
import { ConditionFailed, UnavailableError, WriteConflict } from '../../../../shared/store/table/errors.ts'
import { withScope } from '../../../../shared/store/table/request-scope.ts'
import { RETRY_BUDGET_MS } from '../../../../shared/store/table/retries.ts'
import { openTable } from '../../../../shared/store/table/table.ts'
import { MAX_TRANSACTION_MS } from '../../../../shared/store/table/visibility-delay.ts'
import { mockClient } from '../../../support/mock-client.ts'
import { virtualTiming } from '../../../support/virtual-timing.ts'

const key = { pk: 'p', sk: 's' }
const failing = (facts: object) => Object.assign(new Error('said something'), facts)
const cancelled = (...codes: string[]) =>
  failing({ name: 'TransactionCanceledException', CancellationReasons: codes.map((Code) => ({ Code })) })

describe('with a mocked client', () => {
  const dynamodb = mockClient(DynamoDBDocumentClient)
  const table = openTable(dynamodb as unknown as DynamoDBDocumentClient, 't')
  beforeEach(() => dynamodb.reset())

  it.each([
    { name: 'ThrottlingException' },
    { name: 'ProvisionedThroughputExceededException' },
    { name: 'TimeoutError' },
    { name: 'InternalServerErrorException', $fault: 'server' },
    { name: 'ServiceUnavailableException', $metadata: { httpStatusCode: 503 } },
    { name: 'Error', code: 'ECONNREFUSED' },
    { name: 'Error', code: 'ENOTFOUND' },
    { name: 'Error', code: 'EAI_AGAIN' },
    { name: 'Error', code: 'EPIPE' },
  ])('throws UnavailableError on %j', async (facts) => {
    dynamodb.on(GetCommand).rejects(failing(facts))
    await expect(table.get(key)).rejects.toThrow(UnavailableError)
  })

  it('throws other errors unchanged', async () => {
    dynamodb.on(GetCommand).rejects(failing({ name: 'ValidationException', $fault: 'client' }))
    await expect(table.get(key)).rejects.toThrow('said something')
  })

  it.each([
    ['a conflict', cancelled('None', 'TransactionConflict')],
    ['throttling', cancelled('ThrottlingError')],
    ['a transaction under way', failing({ name: 'TransactionInProgressException' })],
  ])('retries a transaction after %s', async (_, error) => {
    dynamodb.on(TransactWriteCommand).rejectsOnce(error).rejectsOnce(error).resolves({})
    await table.transact([table.deleteWrite(key)])
    expect(dynamodb.commandCalls(TransactWriteCommand).length).toBe(3)
  })

  it('repeats a read of what is committed while a transaction writes the item', async () => {
    const Item = { ...key, a: 1 }
    const conflict = cancelled('TransactionConflict')
    dynamodb
      .on(TransactGetCommand)
      .rejectsOnce(conflict)
      .resolves({ Responses: [{ Item }] })
    expect(await table.getCommitted(key)).toEqual(Item)
    dynamodb.on(TransactGetCommand).resolves({ Responses: [{}] })
    expect(await table.getCommitted(key)).toBeUndefined()
  })

  it('ends a transaction within the time that the visibility delay allows, however patient the client is', async () => {
    const ended = new AbortController()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(ended.signal)
    const patient = {
      send: (_: unknown, { abortSignal }: { abortSignal: AbortSignal }) =>
        new Promise((_, reject) => {
          abortSignal.addEventListener('abort', () => reject(failing({ name: 'AbortError' })))
        }),
    }
    const waiting = openTable(patient as unknown as DynamoDBDocumentClient, 't')
    const transaction = expect(waiting.tryTransact([table.deleteWrite(key)])).rejects.toThrow(
      UnavailableError,
    )
    ended.abort()
    await transaction
    expect(timeout).toHaveBeenCalledExactlyOnceWith(MAX_TRANSACTION_MS)
    timeout.mockRestore()
  })

  it('retries an update after a conflict', async () => {
    dynamodb
      .on(UpdateCommand)
      .rejectsOnce(failing({ name: 'TransactionConflictException' }))
      .resolves({ Attributes: { n: 1 } })
    expect(await table.update(key, { UpdateExpression: 'ADD n :one' })).toEqual({ n: 1 })
  })

  it('reports which conditions failed, and does not retry', async () => {
    dynamodb
      .on(TransactWriteCommand)
      .rejects(cancelled('None', 'ConditionalCheckFailed', 'TransactionConflict'))
    await expect(table.transact([])).rejects.toMatchObject({ failedIndexes: [1] })
    dynamodb.on(UpdateCommand).rejects(failing({ name: 'ConditionalCheckFailedException' }))
    await expect(table.update(key, { UpdateExpression: 'ADD n :one' })).rejects.toThrow(ConditionFailed)
    expect(dynamodb.commandCalls(TransactWriteCommand).length).toBe(1)
  })

  it('throws a conflict from tryTransact, and does not retry', async () => {
    dynamodb.on(TransactWriteCommand).rejects(cancelled('None', 'TransactionConflict'))
    await expect(table.tryTransact([])).rejects.toThrow(WriteConflict)
    expect(dynamodb.commandCalls(TransactWriteCommand).length).toBe(1)
  })

  it.each([
    ['the response is lost', failing({ name: 'Error', code: 'ECONNRESET' })],
    ['the request times out', failing({ name: 'TimeoutError' })],
    [
      'the server fails',
      failing({ name: 'InternalServerError', $fault: 'server', $metadata: { httpStatusCode: 500 } }),
    ],
    ['the same transaction is in progress', failing({ name: 'TransactionInProgressException' })],
  ])('sends the identical transaction with its token again when %s', async (_, error) => {
    dynamodb.on(TransactWriteCommand).rejectsOnce(error).rejectsOnce(error).resolves({})
    await table.tryTransact([table.deleteWrite(key)])
    const inputs = dynamodb.commandCalls(TransactWriteCommand).map(({ args }) => args[0].input)
    expect(inputs.length).toBe(3)
    expect(inputs[0]?.ClientRequestToken).toMatch(/^[0-9a-f-]{36}$/)
    expect(inputs[1]).toEqual(inputs[0])
    expect(inputs[2]).toEqual(inputs[0])
  })

  const throttling = { name: 'ProvisionedThroughputExceededException' }
  it.each([
    ['throttled after a lost response', failing({ name: 'Error', code: 'ECONNRESET' }), failing(throttling)],
    [
      'cancelled by throttling after a lost response',
      failing({ name: 'Error', code: 'ECONNRESET' }),
      cancelled('ThrottlingError'),
    ],
    [
      'throttled at a later attempt of the SDK, which may have lost a response before',
      failing({ ...throttling, $metadata: { attempts: 3 } }),
      failing({ ...throttling, $metadata: { attempts: 3 } }),
    ],
  ])('keeps the token of a transaction that is %s', async (_, first, second) => {
    dynamodb.on(TransactWriteCommand).rejectsOnce(first).rejectsOnce(second).resolves({})
    await table.tryTransact([table.deleteWrite(key)])
    const inputs = dynamodb.commandCalls(TransactWriteCommand).map(({ args }) => args[0].input)
    expect(inputs.length).toBe(3)
    expect(inputs[2]).toEqual(inputs[0])
  })

  it('returns to the caller of tryTransact when the first attempt is throttled', async () => {
    dynamodb.on(TransactWriteCommand).rejects(failing({ ...throttling, $metadata: { attempts: 1 } }))
    await expect(table.tryTransact([])).rejects.toMatchObject({ name: 'Throttled' })
    expect(dynamodb.commandCalls(TransactWriteCommand).length).toBe(1)
  })

  it('uses a new token for each attempt of a rejected transaction', async () => {
    dynamodb.on(TransactWriteCommand).rejectsOnce(cancelled('TransactionConflict')).resolves({})
    await table.transact([table.deleteWrite(key)])
    const tokens = dynamodb
      .commandCalls(TransactWriteCommand)
      .map(({ args }) => args[0].input.ClientRequestToken)
    expect(new Set(tokens).size).toBe(2)
  })

  it('throws UnavailableError immediately when the request was never sent', async () => {
    dynamodb.on(TransactWriteCommand).rejects(failing({ name: 'Error', code: 'ECONNREFUSED' }))
    await expect(table.tryTransact([])).rejects.toThrow(UnavailableError)
    expect(dynamodb.commandCalls(TransactWriteCommand).length).toBe(1)
  })

  it('throws UnavailableError when conflicts last longer than the retry budget', async () => {
    const clock = virtualTiming()
    const impatient = openTable(dynamodb as unknown as DynamoDBDocumentClient, 't', { timing: clock })
    dynamodb.on(TransactWriteCommand).rejects(cancelled('TransactionConflict'))
    await expect(impatient.transact([])).rejects.toThrow(UnavailableError)
    expect(clock.now()).toBeLessThanOrEqual(RETRY_BUDGET_MS)
    expect(clock.now()).toBeGreaterThan(RETRY_BUDGET_MS / 2)
  })

  it('stops when the request it serves has its response', async () => {
    const answered = new AbortController()
    dynamodb.on(TransactWriteCommand).rejects(cancelled('TransactionConflict'))
    const work = withScope({ signal: answered.signal }, () => table.transact([]))
    setTimeout(() => answered.abort(), 50)
    await expect(work).rejects.toMatchObject({ name: 'AbortError' })
    const calls = dynamodb.commandCalls(TransactWriteCommand).length
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(dynamodb.commandCalls(TransactWriteCommand).length).toBe(calls)
  })
})

it('throws UnavailableError when the store accepts the request and never responds', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as { port: number }
  const client = documentClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    maxAttempts: 1,
  })
  await expect(openTable(client, 'table').get(key)).rejects.toThrow(UnavailableError)
  silent.closeAllConnections()
  silent.close()
})
