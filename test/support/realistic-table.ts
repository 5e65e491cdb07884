import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, inject, onTestFinished } from 'vitest'
import { operatorClient } from '../../bin/clinic/tool/operator-client.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { ENGINE_ACCESS } from './engine-access.ts'
import { stubFunctionEnvironment } from './functions.ts'
import type { LatencyOptions } from './realistic-dynamodb/latency.ts'
import {
  type RealisticDynamoDb,
  type RealisticDynamoDbOptions,
  startRealisticDynamoDb,
} from './realistic-dynamodb/realistic-dynamodb.ts'
import { createTestTable, type TestTable, tableOfFile } from './table.ts'

export type RealisticTable = TestTable & {
  /** Faults and counts of the proxy that the table's client goes through. */
  readonly dynamodb: RealisticDynamoDb
  /** A client of the same proxy that never retries. */
  readonly plainClient: DynamoDBClient
  /** The same table through the client of the operator tool. */
  readonly operatorTable: Table
}

/** Latencies for campaigns of thousands of calls, long enough for calls to overlap. */
export const SHORT_LATENCY: LatencyOptions = { transactionMs: 2, writeMs: 1, readMs: 1, rejectionMs: 1 }

/**
 * An empty table of the test's own, behind a proxy that behaves like DynamoDB under contention. Latencies are DynamoDB's
 * unless given. The client is configured like the functions' own. Both are closed when the test finishes.
 */
export async function freshRealisticTable(
  options: Omit<RealisticDynamoDbOptions, 'engine'> = {},
): Promise<RealisticTable> {
  const dynamodb = await startRealisticDynamoDb({ engine: inject('dynamodb'), ...options })
  const settings = { endpoint: dynamodb.endpoint, ...ENGINE_ACCESS }
  const plainClient = new DynamoDBClient({ ...settings, maxAttempts: 1 })
  const client = documentClient(settings)
  const toolClient = operatorClient(settings)
  onTestFinished(async () => {
    client.destroy()
    toolClient.destroy()
    plainClient.destroy()
    await dynamodb.close()
  })
  const name = await createTestTable(plainClient)
  const operatorTable = openTable(toolClient, name)
  return { client, name, table: openTable(client, name), operatorTable, dynamodb, plainClient }
}

/**
 * A table of its own for the test file, which functions use through such a proxy, while `db` is beside it. Faults that a test has
 * planned end with it.
 */
export function realisticTableOfFunctions() {
  const db = tableOfFile()
  const dynamodb = {} as RealisticDynamoDb
  beforeAll(async () => {
    Object.assign(
      dynamodb,
      await startRealisticDynamoDb({ engine: inject('dynamodb'), latency: SHORT_LATENCY }),
    )
    stubFunctionEnvironment(db.name, { AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint })
  })
  beforeEach(() => dynamodb.faults.clear())
  afterAll(() => dynamodb.close())
  return { db, dynamodb }
}
