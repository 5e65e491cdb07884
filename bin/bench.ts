/** `npm run bench`: measures costs, fails if a bound is exceeded, and writes the tables in docs/benchmarks/. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { Command } from 'commander'
import { startDynamoDb } from '../infra/local/engines/dynamodb.ts'
import { functionIds } from '../infra/stacks/deployment.ts'
import { openTable } from '../shared/store/table/table.ts'
import { measureBundles } from './bench/bundles.ts'
import { measureCold } from './bench/cold.ts'
import { measureContention } from './bench/contention.ts'
import { measureImports } from './bench/imports.ts'
import { measureLoad } from './bench/load.ts'
import { measureUnits } from './bench/units.ts'
import { measureVerification } from './bench/verification.ts'

const TABLE = 'bench'

/** A table of docs/benchmarks, and the bounds that were exceeded. */
type Measured = { readonly section: string; readonly failures: readonly string[] }

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

/** What each option measures, on a table in the engine at `endpoint`. */
const SECTIONS: Readonly<Record<string, (endpoint: string) => Promise<Measured>>> = {
  units: (endpoint) => measureUnits(endpoint, TABLE, newTable(endpoint)),
  bundles: () => measureBundles(functionIds(), join(folder, 'bundles')),
  imports: (endpoint) => measureImports(endpoint, TABLE, newTable(endpoint), folder),
  verification: (endpoint) => measureVerification(endpoint, TABLE, newTable(endpoint), [2_000, 10_000]),
  contention: (endpoint) => measureContention(endpoint, TABLE, newTable(endpoint), folder),
  cold: (endpoint) => measureCold(endpoint, TABLE, newTable(endpoint), join(folder, 'cold')),
  load: () => measureLoad(),
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
    await newClient(engine.endpoint).send(
      new CreateTableCommand({
        TableName: TABLE,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['pk', 'sk'].map((key) => ({ AttributeName: key, AttributeType: 'S' })),
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      }),
    )
    const { section, failures } = await (SECTIONS[name] as (typeof SECTIONS)[string])(engine.endpoint)
    printLine(`\n${section}`)
    const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
    const source = `Written by \`npm run bench -- --${name}\`. See [benchmarks](../benchmarks.md).`
    if (write) writeFileSync(`docs/benchmarks/${name}.md`, `# ${title}\n\n${source}\n\n${section}`)
    return failures
  } finally {
    await engine.stop()
  }
}

function newClient(endpoint: string): DynamoDBDocumentClient {
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'local' }
  return DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: 'us-east-1', credentials }))
}

function newTable(endpoint: string) {
  return openTable(newClient(endpoint), TABLE)
}
