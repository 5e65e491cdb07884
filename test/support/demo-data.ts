import { readFileSync, writeFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadDemo } from '../../bin/demo/demo.ts'
import type { ReadyClinic } from '../../bin/demo/load.ts'
import { onTable } from '../../bin/local/clinics.ts'
import { startLocalStack } from '../../infra/local/stack.ts'
import { oncePerRun } from './once-per-run.ts'
import { sharedAssembly } from './shared-assembly.ts'

/** A data folder of a local stack with the demo clinics in it. */
export type DemoData = {
  readonly folder: string
  readonly clinics: ReadyClinic[]
  readonly remove: () => Promise<void>
}

/** Copies the demo data, which is loaded once in a run, for one stack. */
export async function copyDemoData(): Promise<DemoData> {
  const source = await oncePerRun('demo-data', loadInto)
  const folder = await mkdtemp(join(tmpdir(), 'clinic-test-data-'))
  await cp(source, folder, { recursive: true })
  const clinics = JSON.parse(readFileSync(join(source, CLINICS_FILE), 'utf8')) as ReadyClinic[]
  return { folder, clinics, remove: () => rm(folder, { recursive: true, force: true }) }
}

const CLINICS_FILE = 'clinics.json'

async function loadInto(folder: string): Promise<void> {
  let clinics: ReadyClinic[] = []
  const stack = await startLocalStack({
    port: 0,
    dataDir: folder,
    synthesize: sharedAssembly,
    seed: async (started) => {
      clinics = await onTable(started, loadDemo)
      return {}
    },
  })
  await stack.close()
  writeFileSync(join(folder, CLINICS_FILE), JSON.stringify(clinics))
}
