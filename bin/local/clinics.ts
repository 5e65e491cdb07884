import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SeededStack } from '../../infra/local/stack.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import type { ReadyClinic } from '../demo/load.ts'

/** Loads the first clinics. Data that is kept has them already, with their credentials in `demo.json`. */
export async function loadClinics(
  stack: SeededStack,
  dataDir: string | undefined,
  load: (table: Table) => Promise<ReadyClinic[]>,
): Promise<ReadyClinic[]> {
  const savedFile = dataDir && join(dataDir, 'demo.json')
  if (savedFile && existsSync(savedFile)) return JSON.parse(readFileSync(savedFile, 'utf8'))
  const clinics = await onTable(stack, load)
  if (savedFile) writeFileSync(savedFile, JSON.stringify(clinics), { mode: 0o600 })
  return clinics
}

/** Runs `load` on the table of the stack. */
export async function onTable<T>(
  { endpoints, outputs }: SeededStack,
  load: (table: Table) => Promise<T>,
): Promise<T> {
  const client = documentClient({
    endpoint: endpoints.dynamodb,
    region: process.env.AWS_REGION ?? 'us-east-1',
    credentials: { accessKeyId: 'demo', secretAccessKey: 'local' },
    // No request waits for a call, and the machine may be busy.
    requestHandler: {},
  })
  const loaded = await load(openTable(client, outputs.TableName ?? ''))
  client.destroy()
  return loaded
}
