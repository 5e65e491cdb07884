import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactGetCommand,
} from '@aws-sdk/lib-dynamodb'
import type { Key } from '../keys/key.ts'
import { chunked } from './chunked.ts'
import { errorName, rejectionOf } from './errors.ts'
import { abortOption } from './request-scope.ts'
import { responseTo } from './response.ts'
import { backoff, repeatOnConflict, type Timing } from './retries.ts'
import type { Item } from './write-requests.ts'

/** A range of one partition. `from` and `to` are inclusive sort keys; `limit` is the maximum number of items, `keysOnly` without attributes. */
export type Range = {
  readonly pk: string
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly descending?: boolean
  readonly limit: number
  readonly eventual?: boolean
  readonly keysOnly?: boolean
}

/** The most keys in one BatchGetItem. */
const MAX_BATCH_GET_KEYS = 100

/** The reads of the table `name`, strongly consistent unless asked otherwise. */
export function tableReads(client: DynamoDBDocumentClient, name: string, timing: Timing) {
  async function get(key: Key, { eventual = false } = {}): Promise<Item | undefined> {
    const command = new GetCommand({ TableName: name, Key: key, ConsistentRead: !eventual })
    const { Item } = await responseTo(client.send(command, abortOption()))
    return Item as Item | undefined
  }

  /** An item, after any transaction that is writing it. Other reads may have one item of a transaction before another. */
  const getCommitted = (key: Key): Promise<Item | undefined> =>
    repeatOnConflict(async () => {
      const command = new TransactGetCommand({ TransactItems: [{ Get: { TableName: name, Key: key } }] })
      try {
        const { Responses } = await responseTo(client.send(command, abortOption()))
        return Responses?.[0]?.Item as Item | undefined
      } catch (error) {
        throw errorName(error) === 'TransactionCanceledException' ? rejectionOf(error) : error
      }
    }, timing)

  async function query(range: Range): Promise<Item[]> {
    const items: Item[] = []
    let start: Record<string, unknown> | undefined
    do {
      const input = queryInput(name, range, range.limit - items.length, start)
      const page = await responseTo(client.send(new QueryCommand(input), abortOption()))
      items.push(...((page.Items ?? []) as Item[]))
      start = page.LastEvaluatedKey
    } while (start && items.length < range.limit)
    return items
  }

  /** The items that exist, in no particular order. */
  async function getMany(keys: readonly Key[], { eventual = false } = {}): Promise<Item[]> {
    const batches = chunked(keys, MAX_BATCH_GET_KEYS).map((batch) => getBatch(batch, eventual))
    return (await Promise.all(batches)).flat()
  }

  async function getBatch(keys: readonly Key[], eventual: boolean): Promise<Item[]> {
    const found: Item[] = []
    const backOff = backoff(timing)
    for (let pending = keys; ; ) {
      const request = {
        [name]: { Keys: pending.map(({ pk, sk }) => ({ pk, sk })), ConsistentRead: !eventual },
      }
      const page = await responseTo(
        client.send(new BatchGetCommand({ RequestItems: request }), abortOption()),
      )
      found.push(...((page.Responses?.[name] ?? []) as Item[]))
      pending = (page.UnprocessedKeys?.[name]?.Keys ?? []) as Key[]
      if (pending.length === 0) return found
      await backOff('keys left unprocessed')
    }
  }

  return { get, getCommitted, query, getMany }
}

function queryInput(
  name: string,
  { pk, from, to, descending = false, eventual = false, keysOnly = false }: Range,
  limit: number,
  start: Record<string, unknown> | undefined,
): QueryCommandInput {
  const bounds =
    from !== undefined && to !== undefined
      ? ' AND sk BETWEEN :from AND :to'
      : from !== undefined
        ? ' AND sk >= :from'
        : to !== undefined
          ? ' AND sk <= :to'
          : ''
  return {
    TableName: name,
    KeyConditionExpression: `pk = :pk${bounds}`,
    ExpressionAttributeValues: {
      ':pk': pk,
      ...(from !== undefined && { ':from': from }),
      ...(to !== undefined && { ':to': to }),
    },
    ScanIndexForward: !descending,
    ConsistentRead: !eventual,
    Limit: limit,
    ...(keysOnly && { ProjectionExpression: 'pk, sk' }),
    ...(start && { ExclusiveStartKey: start }),
  }
}
