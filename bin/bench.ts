/** `npm run bench`: measures costs, fails if a bound is exceeded, and writes the tables in docs/benchmarks/. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { Command } from 'commander'
import { startDynamoDb } from '../infra/local/engines/dynamodb.ts'
import { openTable } from '../shared/store/table/table.ts'
import { ENGINE_ACCESS } from '../test/support/engine-access.ts'
import { createTestTable } from '../test/support/table.ts'
import { measureBundles } from './bench/bundles.ts'
import { measureCold } from './bench/cold.ts'
import { measureContention } from './bench/contention.ts'
import { measureImports } from './bench/imports.ts'
import { measureLoad } from './bench/load.ts'
import type { Bench, Measured } from './bench/report.ts'
import { measureUnits } from './bench/units.ts'
import { measureVerification } from './bench/verification.ts'

const TABLE = 'bench'

const { write, ...chosen } = new Command('npm run bench --')
  .option('--units', 'measure units and round trips of requests and deliveries')
  .option('--bundles', 'measure the sizes of functions')
  .option('--imports', 'measure imports')
  .option('--verification', 'measure verifications of whole clinics')
  .option('--contention', 'measure what concurrent writers of one clinic get')
  .option('--cold', 'measure the time of cold and warm functions (Linux)')
  .option('--load', 'measure the local stack under load (Linux)')
  .option('--no-write', 'print the report instead of writing it to docs/benchmarks/')
  .addHelpText('after', '\nWithout any of them, it measures units, bundles and imports.')
  .parse()
  .opts<Record<string, boolean>>()

const folder = mkdtempSync(join(tmpdir(), 'clinic-bench-'))
const printLine = (text: string) => process.stdout.write(`${text}\n`)

const SECTIONS: Readonly<Record<string, (bench: Bench) => Promise<Measured>>> = {
  units: measureUnits,
  bundles: measureBundles,
  imports: measureImports,
  verification: (bench) => measureVerification(bench, [2_000, 10_000]),
  contention: measureContention,
  cold: measureCold,
  load: measureLoad,
}

const names = Object.keys(SECTIONS).filter((name) => chosen[name])
const failures: string[] = []
try {
  for (const name of names.length > 0 ? names : ['units', 'bundles', 'imports'])
    failures.push(...(await bench(name)))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

if (failures.length > 0) {
  printLine(`\nBounds exceeded:\n${failures.map((failure) => `  ${failure}`).join('\n')}`)
  process.exitCode = 1
}

/** Measures a section on an engine of its own, and writes its page. */
async function bench(name: string): Promise<readonly string[]> {
  const engine = await startDynamoDb({
    onUnexpectedExit: (message) => {
      throw new Error(message)
    },
  })
  try {
    const client = new DynamoDBClient({ endpoint: engine.endpoint, ...ENGINE_ACCESS })
    await createTestTable(client, TABLE)
    const { section, failures } = await (SECTIONS[name] as (typeof SECTIONS)[string])({
      endpoint: engine.endpoint,
      tableName: TABLE,
      table: openTable(DynamoDBDocumentClient.from(client), TABLE),
      folder,
    })
    printLine(`\n${section}`)
    const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
    const source = `Written by \`npm run bench -- --${name}\`. See [benchmarks](../benchmarks.md).`
    if (write) writeFileSync(`docs/benchmarks/${name}.md`, `# ${title}\n\n${source}\n\n${section}`)
    return failures
  } finally {
    await engine.stop()
  }
}
