/** Requests for one table, written short for the tests of the realistic engine. */
import {
  BatchWriteItemCommand,
  GetItemCommand,
  PutItemCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  type TransactWriteItemsCommandInput,
  type TransactWriteItemsCommandOutput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { freshRealisticTable } from '../realistic-table.ts'
import type { LatencyOptions } from './latency.ts'

const NO_LATENCY: LatencyOptions = { transactionMs: 0, writeMs: 0, readMs: 0, rejectionMs: 0 }

type Entry = NonNullable<TransactWriteItemsCommandInput['TransactItems']>[number]

/** The error that a call fails with, in the parts that tests compare. */
export async function failure(call: Promise<unknown>) {
  try {
    await call
  } catch (error) {
    const { name, message, $metadata, CancellationReasons } = error as any
    return {
      name: name as string,
      message: message as string,
      status: $metadata?.httpStatusCode as number | undefined,
      codes: CancellationReasons?.map(({ Code }: { Code: string }) => Code) as string[] | undefined,
      code: (error as any).code as string | undefined,
    }
  }
  throw new Error('The call succeeded.')
}

/** Items are named by their partition key; all have the same sort key. */
export async function realisticItems() {
  const { dynamodb, plainClient: client, name } = await freshRealisticTable({ latency: NO_LATENCY })
  const keyOf = (pk: string) => ({ pk: { S: pk }, sk: { S: 'item' } })
  const target = (pk: string) => ({ TableName: name, Key: keyOf(pk) })
  const increment = (pk: string) => ({
    ...target(pk),
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  })
  return {
    dynamodb,
    client,
    name,
    keyOf,
    /** Entries of a transaction. */
    update: (pk: string): Entry => ({ Update: increment(pk) }),
    put: (pk: string): Entry => ({ Put: { TableName: name, Item: keyOf(pk) } }),
    remove: (pk: string): Entry => ({ Delete: target(pk) }),
    requireMissing: (pk: string): Entry => ({
      ConditionCheck: { ...target(pk), ConditionExpression: 'attribute_not_exists(pk)' },
    }),
    transact: (entries: Entry[], token?: string): Promise<TransactWriteItemsCommandOutput> =>
      client.send(
        new TransactWriteItemsCommand({
          TransactItems: entries,
          ...(token !== undefined && { ClientRequestToken: token }),
        }),
      ),
    transactGet: (...pks: string[]) =>
      client.send(new TransactGetItemsCommand({ TransactItems: pks.map((pk) => ({ Get: target(pk) })) })),
    putItem: (pk: string) => client.send(new PutItemCommand({ TableName: name, Item: keyOf(pk) })),
    updateItem: (pk: string) => client.send(new UpdateItemCommand(increment(pk))),
    batchWrite: (...pks: string[]) =>
      client.send(
        new BatchWriteItemCommand({
          RequestItems: { [name]: pks.map((pk) => ({ PutRequest: { Item: keyOf(pk) } })) },
        }),
      ),
    /** Starts a call, and waits until its items are in flight. The function lets it finish, and returns its result. */
    hold: async <T>(call: () => Promise<T>) => {
      const { reached, release } = dynamodb.faults.next({ kind: 'held', keyPrefix: 'a|' })
      const result = call()
      await reached
      return () => {
        release()
        return result
      }
    },
    /** The item's counter; undefined when the item, or its counter, is missing. */
    count: async (pk: string): Promise<number | undefined> => {
      const { Item } = await client.send(new GetItemCommand({ ...target(pk), ConsistentRead: true }))
      return Item?.n?.N === undefined ? undefined : Number(Item.n.N)
    },
  }
}
