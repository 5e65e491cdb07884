import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { LocalStack } from '../../infra/local/stack.ts'
import { openTable } from '../../shared/store/table/table.ts'
import { loadDemo, type ReadyClinic } from '../demo/load.ts'

/** Loads the demo clinics. Data that is kept has them already, with their credentials in `demo.json`. */
export async function loadDemoClinics(
  { endpoints, outputs }: Pick<LocalStack, 'endpoints' | 'outputs'>,
  dataDir: string | undefined,
): Promise<ReadyClinic[]> {
  const savedFile = dataDir && join(dataDir, 'demo.json')
  if (savedFile && existsSync(savedFile)) return JSON.parse(readFileSync(savedFile, 'utf8')) as ReadyClinic[]
  const client = new DynamoDBClient({
    endpoint: endpoints.dynamodb,
    region: process.env.AWS_REGION ?? 'us-east-1',
    credentials: { accessKeyId: 'demo', secretAccessKey: 'local' },
  })
  const clinics = await loadDemo(openTable(DynamoDBDocumentClient.from(client), outputs.TableName ?? ''))
  client.destroy()
  if (savedFile) writeFileSync(savedFile, JSON.stringify(clinics), { mode: 0o600 })
  return clinics
}
