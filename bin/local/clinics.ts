import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KeptFiles, sourcesOf } from '../../infra/kept/kept-files.ts'
import type { SeededStack } from '../../infra/local/stack.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { currentDay, loadDemo, type ReadyClinic } from '../demo/load.ts'
import { DATA_FORMAT } from './data-folder.ts'

/** Loads the first clinics. Data that is kept has them already, with their credentials in `demo.json`. */
export async function loadClinics(
  stack: SeededStack,
  dataDir: string | undefined,
  load: (stack: SeededStack) => Promise<ReadyClinic[]>,
): Promise<ReadyClinic[]> {
  const savedFile = dataDir && join(dataDir, 'demo.json')
  if (savedFile && existsSync(savedFile)) return JSON.parse(readFileSync(savedFile, 'utf8')) as ReadyClinic[]
  const clinics = await load(stack)
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

/**
 * Loads the demo clinics, from `kept` if the same code has loaded them before on the same day, or with the clock set to the same instant `at`. Otherwise
 * they are imported, and kept there.
 */
export async function loadKeptDemo(stack: SeededStack, kept: KeptFiles, at?: number): Promise<ReadyClinic[]> {
  const today = currentDay()
  // The clock of the next start with this time begins there too, so no record may be of a later time.
  const now = at === undefined ? Date.now : () => at
  const settings = [process.versions, DATA_FORMAT, stack.outputs.TableName, today, at]
  const load = () => onTable(stack, (table) => loadDemo(table, today, now))
  const { database } = stack
  if (!database) return load()
  const folder = mkdtempSync(join(tmpdir(), 'clinic-demo-'))
  const file = join(folder, 'table.db')
  try {
    const found = kept.find('demo', settings)
    if (found) {
      writeFileSync(file, found['table.db'] ?? '')
      database.addFrom(file)
      return JSON.parse(String(found['clinics.json'])) as ReadyClinic[]
    }
    const clinics = await load()
    database.copyTo(file)
    const files = { 'table.db': readFileSync(file), 'clinics.json': Buffer.from(JSON.stringify(clinics)) }
    kept.keep([{ name: 'demo', settings, inputs: sourcesOf('bin/local/clinics.ts'), files }])
    return clinics
  } finally {
    rmSync(folder, { recursive: true })
  }
}
