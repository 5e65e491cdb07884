/** A table of the run's engine, behind a proxy in this process. */
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { openTable } from '../../shared/store/table/table.ts'
import { plainClient } from '../support/dynamodb/plain-client.ts'
import { lighten, shortCut } from '../support/dynamodb/short-cut.ts'
import type { RandomSource } from '../support/random.ts'
import { startRealisticDynamoDb } from '../support/realistic-dynamodb/realistic-dynamodb.ts'
import { createTestTable } from '../support/table.ts'
import { functionInstances } from './functions.ts'
import { localWorld } from './local-world.ts'

const LOCAL = { region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }
/** From 0 to 2 ms. */
const LATENCY = { transactionMs: 1, writeMs: 1, readMs: 1, rejectionMs: 1, jitter: 1 }
const PROVIDER_FAULTS = 0.04

/** The client of the functions' own configuration comes from the caller, which has replaced its module. */
export type OpenClient = (config: object) => DynamoDBDocumentClient

export type Stage = Awaited<ReturnType<typeof openLocalStage>>

/** Opens where the histories of a campaign take place: an engine with a table, and everything that reaches it. */
export async function openLocalStage(endpoint: string, openClient: OpenClient) {
  const dynamodb = await startRealisticDynamoDb({ engine: endpoint, latency: LATENCY })
  const client = lighten(openClient(shortCut(dynamodb.execute)))
  const direct = plainClient(dynamodb.pass)
  const raw = new DynamoDBClient({ endpoint, ...LOCAL })
  const tableName = await createTestTable(raw)
  const engine = { dynamodb, client, direct, tableName, functions: functionInstances(tableName) }
  return {
    dynamodb,
    /** The table without faults and conflicts. */
    table: openTable(direct, tableName),
    /** Begins a history. */
    begin: (random: RandomSource) => localWorld(engine, random, PROVIDER_FAULTS),
    [Symbol.asyncDispose]: async () => {
      await raw.send(new DeleteTableCommand({ TableName: tableName }))
      client.destroy()
      raw.destroy()
      await dynamodb.close()
    },
  }
}
