/** The single table as the stores see it: keys in, items out, retries and their limits in one place. */
import {
  BatchGetCommand,
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb'
import { UnavailableError } from '../../domain/unavailable.ts'
import type { Key } from '../keys/key.ts'
import { cancellationCodes, errorName, isUnavailable, RETRYABLE_ERRORS, RETRYABLE_REASONS } from './errors.ts'

export type Item = Key & Record<string, unknown>

export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** A range of one partition. `from` and `to` are inclusive sort keys; `limit` is the most items wanted. */
export type Range = {
  readonly pk: string
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly descending?: boolean
  readonly limit: number
  readonly eventual?: boolean
}

export type UpdateParts = Pick<
  UpdateCommandInput,
  | 'UpdateExpression'
  | 'ConditionExpression'
  | 'ExpressionAttributeNames'
  | 'ExpressionAttributeValues'
  | 'ReturnValues'
>

/** A transaction or write whose condition did not hold; `failed` are the positions of the writes that said no. */
export class ConditionFailed extends Error {
  readonly failedIndexes: readonly number[]
  constructor(failedIndexes: readonly number[]) {
    super('a condition of the write did not hold')
    this.name = 'ConditionFailed'
    this.failedIndexes = failedIndexes
  }
}

export type Table = ReturnType<typeof openTable>

/** The table as writers of history see it: what they write makes no events. */
export const withoutEvents = (table: Table): Table => ({ ...table, emitsEvents: false })

/** What DynamoDB takes in one call. */
const MAX_BATCH_GET_KEYS = 100
const MAX_BATCH_WRITE_ITEMS = 25
/** Items of one transaction. */
export const MAX_TRANSACTION_ITEMS = 100

const MAX_ATTEMPTS = 8

/**
 * Opens the table `name`. All reads are strongly consistent unless asked otherwise.
 * @throws UnavailableError from any call, when the store throttles or cannot be reached after all retries
 */
export function openTable(client: DynamoDBDocumentClient, name: string) {
  const send = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call()
    } catch (error) {
      throw isUnavailable(error) ? new UnavailableError(error) : error
    }
  }

  async function get(key: Key): Promise<Item | undefined> {
    const { Item } = await send(() =>
      client.send(new GetCommand({ TableName: name, Key: key, ConsistentRead: true })),
    )
    return Item as Item | undefined
  }

  async function query(range: Range): Promise<Item[]> {
    const items: Item[] = []
    let start: Record<string, unknown> | undefined
    do {
      const input = queryInput(name, range, range.limit - items.length, start)
      const page = await send(() => client.send(new QueryCommand(input)))
      items.push(...((page.Items ?? []) as Item[]))
      start = page.LastEvaluatedKey
    } while (start && items.length < range.limit)
    return items
  }

  /** The items that exist, in no order. */
  async function getMany(keys: readonly Key[], { eventual = false } = {}): Promise<Item[]> {
    const batches = chunked(keys, MAX_BATCH_GET_KEYS).map((batch) => getBatch(batch, eventual))
    return (await Promise.all(batches)).flat()
  }

  async function getBatch(keys: readonly Key[], eventual: boolean): Promise<Item[]> {
    const found: Item[] = []
    let pending: readonly Key[] = keys
    for (let attempt = 1; pending.length > 0; attempt++) {
      const request = {
        [name]: { Keys: pending.map(({ pk, sk }) => ({ pk, sk })), ConsistentRead: !eventual },
      }
      const page = await send(() => client.send(new BatchGetCommand({ RequestItems: request })))
      found.push(...((page.Responses?.[name] ?? []) as Item[]))
      pending = (page.UnprocessedKeys?.[name]?.Keys ?? []) as Key[]
      if (pending.length > 0) await backOff(attempt, 'keys left unprocessed')
    }
    return found
  }

  /** Deletes items that nothing refers to any more; not atomic. */
  async function deleteMany(keys: readonly Key[]): Promise<void> {
    for (const batch of chunked(keys, MAX_BATCH_WRITE_ITEMS)) {
      let pending: object[] = batch.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }))
      for (let attempt = 1; pending.length > 0; attempt++) {
        const page = await send(() =>
          client.send(new BatchWriteCommand({ RequestItems: { [name]: pending } })),
        )
        pending = page.UnprocessedItems?.[name] ?? []
        if (pending.length > 0) await backOff(attempt, 'writes left unprocessed')
      }
    }
  }

  /** @throws ConditionFailed */
  async function update(key: Key, parts: UpdateParts): Promise<Record<string, unknown> | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        const command = new UpdateCommand({ TableName: name, Key: { pk: key.pk, sk: key.sk }, ...parts })
        return (await send(() => client.send(command))).Attributes
      } catch (error) {
        if (errorName(error) === 'ConditionalCheckFailedException') throw new ConditionFailed([0])
        if (!RETRYABLE_ERRORS.has(errorName(error))) throw error
        await backOff(attempt, error)
      }
    }
  }

  /**
   * All of the writes or none. A conflict with another transaction is retried with jitter, a failed condition is not.
   * @throws ConditionFailed
   */
  async function transact(writes: readonly Write[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await send(() => client.send(new TransactWriteCommand({ TransactItems: [...writes] })))
        return
      } catch (error) {
        if (RETRYABLE_ERRORS.has(errorName(error))) {
          await backOff(attempt, error)
          continue
        }
        if (errorName(error) !== 'TransactionCanceledException') throw error
        const codes = cancellationCodes(error)
        const failed = codes.flatMap((code, index) => (code === 'ConditionalCheckFailed' ? [index] : []))
        if (failed.length > 0) throw new ConditionFailed(failed)
        if (!codes.some((code) => RETRYABLE_REASONS.has(code))) throw error
        await backOff(attempt, error)
      }
    }
  }

  return {
    /** Whether what is written makes events. */
    emitsEvents: true as boolean,
    get,
    query,
    getMany,
    deleteMany,
    update,
    transact,
    putWrite: (item: Item, condition: 'new' | 'any' = 'any'): Write => ({
      Put: {
        TableName: name,
        Item: item,
        ...(condition === 'new' && { ConditionExpression: 'attribute_not_exists(pk)' }),
      },
    }),
    /** Deletes an item; with a version, only if it still has that one. */
    deleteWrite: ({ pk, sk }: Key, condition?: number | 'existing'): Write => ({
      Delete: {
        TableName: name,
        Key: { pk, sk },
        ...(condition === 'existing' && { ConditionExpression: 'attribute_exists(pk)' }),
        ...(typeof condition === 'number' && {
          ConditionExpression: 'v = :read',
          ExpressionAttributeValues: { ':read': condition },
        }),
      },
    }),
    /** Holds the transaction to an item's being of this version. */
    checkWrite: (key: Key, version: number): Write => ({
      ConditionCheck: {
        TableName: name,
        Key: key,
        ConditionExpression: 'v = :read',
        ExpressionAttributeValues: { ':read': version },
      },
    }),
    updateWrite: (key: Key, parts: Omit<UpdateParts, 'ReturnValues'>): Write => ({
      Update: { TableName: name, Key: key, ...parts } as Write['Update'],
    }),
  }
}

function queryInput(name: string, range: Range, limit: number, start: Record<string, unknown> | undefined) {
  const { pk, from, to, descending = false, eventual = false } = range
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
    ...(start && { ExclusiveStartKey: start }),
  }
}

/** Waits with full jitter, 10 ms doubling; gives up after {@link MAX_ATTEMPTS}. */
async function backOff(attempt: number, cause: unknown): Promise<void> {
  if (attempt >= MAX_ATTEMPTS) throw new UnavailableError(cause)
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * 2 ** attempt))
}

export function chunked<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < items.length; start += size) chunks.push(items.slice(start, start + size))
  return chunks
}
