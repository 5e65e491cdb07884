/**
 * Reads of the table without the SDK, whose layers take most of a verification's time: it makes tens of thousands of small
 * calls. A call that does not succeed at once is made by the SDK, which knows how to wait and what an error means.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Key } from '../../../shared/store/keys/key.ts'
import { chunked } from '../../../shared/store/table/chunked.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import { openConnections } from './connections.ts'
import { type Response, readResponse } from './read-response.ts'
import { type Credentials, signer } from './signature.ts'

type Call = (operation: string, input: object) => Promise<Response>

const MAX_BATCH_GET_KEYS = 100

/** Failures in a row after which all calls are left to the SDK. */
const MAX_FAILURES = 20

/** The same table, with lean reads. */
export async function withLeanReads(
  table: Table,
  { config }: Pick<DynamoDBDocumentClient, 'config'>,
  name: string,
): Promise<Table> {
  const region = await config.region()
  const call = caller(await endpointOf(config, region), region, config.credentials)
  let failures = 0

  async function orBySdk<Result>(lean: () => Promise<Result>, bySdk: () => Promise<Result>): Promise<Result> {
    if (failures >= MAX_FAILURES) return bySdk()
    try {
      const result = await lean()
      failures = 0
      return result
    } catch {
      failures++
      return bySdk()
    }
  }

  const query: Table['query'] = (range) =>
    orBySdk(
      async () => {
        const { pk, from, to, descending = false, limit, eventual = false } = range
        const bounds =
          from !== undefined && to !== undefined
            ? ' AND sk BETWEEN :from AND :to'
            : from !== undefined
              ? ' AND sk >= :from'
              : to !== undefined
                ? ' AND sk <= :to'
                : ''
        const values = {
          ':pk': { S: pk },
          ...(from !== undefined && { ':from': { S: from } }),
          ...(to !== undefined && { ':to': { S: to } }),
        }
        const items: Item[] = []
        let start: Key | undefined
        do {
          const page = await call('Query', {
            TableName: name,
            KeyConditionExpression: `pk = :pk${bounds}`,
            ExpressionAttributeValues: values,
            ScanIndexForward: !descending,
            ConsistentRead: !eventual,
            Limit: limit - items.length,
            ...(start && { ExclusiveStartKey: encodedKey(start) }),
          })
          items.push(...page.items)
          start = page.last
        } while (start && items.length < limit)
        return items
      },
      () => table.query(range),
    )

  const getMany: Table['getMany'] = async (keys, options = {}) => {
    const batches = chunked(keys, MAX_BATCH_GET_KEYS).map((batch) =>
      orBySdk(
        async () => {
          const Keys = batch.map(encodedKey)
          const { items } = await call('BatchGetItem', {
            RequestItems: { [name]: { Keys, ConsistentRead: !options.eventual } },
          })
          return [...items]
        },
        () => table.getMany(batch, options),
      ),
    )
    return (await Promise.all(batches)).flat()
  }

  const get: Table['get'] = (key, options = {}) =>
    orBySdk(
      async () => {
        const input = { TableName: name, Key: encodedKey(key), ConsistentRead: !options.eventual }
        const { items } = await call('GetItem', input)
        return items[0]
      },
      () => table.get(key, options),
    )

  return { ...table, query, getMany, get }
}

const encodedKey = ({ pk, sk }: Key) => ({ pk: { S: pk }, sk: { S: sk } })

async function endpointOf(config: DynamoDBDocumentClient['config'], region: string): Promise<URL> {
  const given = await config.endpoint?.()
  if (given) return new URL(`${given.protocol}//${given.hostname}${given.port ? `:${given.port}` : ''}`)
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return new URL(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? `https://dynamodb.${region}.${suffix}`)
}

/** Sends signed calls. Rejects unless the call succeeds. */
function caller(endpoint: URL, region: string, credentials: () => Promise<Credentials>): Call {
  const send = openConnections(endpoint)
  const sign = signer(endpoint.host, region)
  return async (operation, input) => {
    const body = JSON.stringify(input)
    const headers = sign(operation, body, await credentials(), new Date())
    let request = 'POST / HTTP/1.1\r\n'
    for (const [name, value] of Object.entries(headers)) request += `${name}: ${value}\r\n`
    return readResponse(await send(`${request}\r\n${body}`))
  }
}
