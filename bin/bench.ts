/** `npm run bench`: measures costs, fails if a bound is exceeded, and writes the tables in docs/benchmarks/. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { Command } from 'commander'
import { startDynamoDb } from '../infra/local/engines/dynamodb.ts'
import { functionIds } from '../infra/stacks/deployment.ts'
import type { ClinicId } from '../shared/domain/clinic.ts'
import { newUuid } from '../shared/domain/uuid.ts'
import { openTable, type Table } from '../shared/store/table/table.ts'
import { measureAppointments } from './bench/appointments.ts'
import { brokenImportBounds, MAX_IMPORT } from './bench/bounds.ts'
import { measureBundles } from './bench/bundles.ts'
import { measureCold } from './bench/cold.ts'
import { measureContention } from './bench/contention.ts'
import { measureDeliveries } from './bench/deliveries.ts'
import { measureInvoices } from './bench/invoices.ts'
import { measureLoad } from './bench/load.ts'
import { measureMessages } from './bench/messages.ts'
import { type Measurement, type MeteredTable, openMeteredTable } from './bench/meter.ts'
import { measurePatients, writePatients } from './bench/patients.ts'
import { measurePayments } from './bench/payments.ts'
import { createClinic } from './bench/records.ts'
import { type ImportRun, runImport } from './bench/tool-run.ts'
import { measureVerification } from './bench/verification.ts'

const { large, write, load, ...only } = new Command('npm run bench --')
  .option('--large', 'also measure a clinic of a million patients (takes minutes)', false)
  .option('--contention', 'measure only what concurrent writers of one clinic get (takes minutes)', false)
  .option('--bundles', 'measure only the sizes of functions', false)
  .option('--cold', 'measure only the time of cold and warm functions', false)
  .option('--payments', 'measure only what importing payments costs', false)
  .option('--verification', 'measure only verifications of whole clinics (takes minutes)', false)
  .option('--load', 'measure only the local stack under load; with --large also for 20 minutes', false)
  .option('--no-write', 'print the report instead of writing it to docs/benchmarks/')
  .parse()
  .opts<Record<string, boolean>>()

const TABLES = 'docs/benchmarks'

const folder = mkdtempSync(join(tmpdir(), 'clinic-bench-'))
const printLine = (text: string) => process.stdout.write(`${text}\n`)
const failures: string[] = []
let engine: Awaited<ReturnType<typeof startDynamoDb>>

/** Sections that are measured only if their option is given, each with its bounds. */
const SECTIONS = {
  bundles: () => measureBundles(functionIds(), join(folder, 'bundles')),
  cold: () => measureCold(engine.endpoint, 'bench', newTable(), join(folder, 'cold')),
  contention: () => measureContention(engine.endpoint, 'bench', newTable(), printLine),
  payments: () => measurePayments(engine.endpoint, 'bench', () => createClinic(newTable()), folder),
  verification: () => measureVerification(newClient(), engine.endpoint, 'bench', [2_000, 10_000]),
}

try {
  if (load) await benchLoad()
  else await onEngine(benchEngine)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

if (failures.length > 0) {
  printLine(`\nBounds exceeded:\n${failures.map((failure) => `  ${failure}`).join('\n')}`)
  process.exitCode = 1
}

async function benchLoad(): Promise<void> {
  const measured = await measureLoad(large === true, printLine)
  failures.push(...measured.failures)
  writeTables('load', [measured.section], 'npm run bench -- --load')
}

async function benchEngine(): Promise<void> {
  const section = (Object.keys(SECTIONS) as (keyof typeof SECTIONS)[]).find((name) => only[name])
  if (!section) return benchCosts()
  await writeSection(section, `npm run bench -- --${section}`)
}

async function writeSection(name: keyof typeof SECTIONS, command: string): Promise<void> {
  const measured = await SECTIONS[name]()
  failures.push(...measured.failures)
  writeTables(name, [measured.section], command)
}

/** Runs work on an engine with a new table, `bench`. */
async function onEngine(work: () => Promise<void>): Promise<void> {
  engine = await startDynamoDb({
    onUnexpectedExit: (message) => {
      throw new Error(message)
    },
  })
  try {
    await newClient().send(
      new CreateTableCommand({
        TableName: 'bench',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['pk', 'sk'].map((key) => ({ AttributeName: key, AttributeType: 'S' })),
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      }),
    )
    await work()
  } finally {
    await engine.stop()
  }
}

async function benchCosts(): Promise<void> {
  const sizes = [1_000, 100_000, ...(large ? [1_000_000] : [])]
  const patients: string[] = []
  for (const count of sizes) patients.push(await patientSection(count))
  writeTables('patients', patients)
  const appointments: string[] = []
  for (const count of sizes) appointments.push(await appointmentSection(count))
  writeTables('appointments', appointments)
  writeTables('invoices', [await section('invoices', measureInvoices)])
  writeTables('messages', [await section('messages', measureMessages, measureDeliveries)])
  await writeSection('bundles', 'npm run bench')
}

function writeTables(name: string, sections: readonly string[], command = 'npm run bench'): void {
  printLine(`\n${sections.join('\n')}`)
  if (!write) return
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  writeFileSync(
    join(TABLES, `${name}.md`),
    `# ${title}\n\nWritten by \`${command}\`. See [benchmarks](../benchmarks.md).\n\n${sections.join('\n')}`,
  )
}

function newClient(): DynamoDBDocumentClient {
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'local' }
  return DynamoDBDocumentClient.from(
    new DynamoDBClient({ endpoint: engine.endpoint, region: 'us-east-1', credentials }),
  )
}

function newTable(): Table {
  return openTable(newClient(), 'bench')
}

async function patientSection(count: number): Promise<string> {
  printLine(`A clinic of ${count.toLocaleString('en')} patients...`)
  const id = await createClinic(newTable())
  const file = join(folder, 'patients.csv')
  await writePatients(file, count)
  const run = await runImport(engine.endpoint, 'bench', id, file)
  const rerun = await runImport(engine.endpoint, 'bench', id, file)
  failures.push(...brokenImportBounds(`importing ${count} patients`, count, run))
  failures.push(...brokenImportBounds(`importing ${count} patients again`, count, rerun))
  const metered = openMeteredTable(newClient(), 'bench')
  await measurePatients(metered, id, count)
  const { lines } = metered
  checkBounds(`${count} patients`, lines)
  const title = `## ${count.toLocaleString('en')} patients`
  return [title, '', importLine(run, rerun, file), '', markdownTable(lines), ''].join('\n')
}

async function appointmentSection(count: number): Promise<string> {
  printLine(`A clinic of ${count.toLocaleString('en')} appointments...`)
  const metered = openMeteredTable(newClient(), 'bench')
  await measureAppointments(newTable(), metered, newUuid() as ClinicId, count)
  const { lines } = metered
  checkBounds(`${count} appointments`, lines)
  return [`## ${count.toLocaleString('en')} appointments`, '', markdownTable(lines), ''].join('\n')
}

async function section(
  name: string,
  ...measures: readonly ((unmeasured: Table, metered: MeteredTable) => Promise<void>)[]
): Promise<string> {
  const metered = openMeteredTable(newClient(), 'bench')
  for (const measure of measures) await measure(newTable(), metered)
  const { lines } = metered
  checkBounds(name, lines)
  return [markdownTable(lines), ''].join('\n')
}

function checkBounds(of: string, lines: readonly Measurement[]): void {
  for (const { label: what, bound, units, roundTrips } of lines) {
    if (units > bound.units || roundTrips > bound.roundTrips) {
      failures.push(`${of}, ${what}: ${units} units, ${roundTrips} round trips`)
    }
  }
}

/** The import of `file` and its repetition. */
function importLine(run: ImportRun, rerun: ImportRun, file: string): string {
  const [rows, unchanged] = [Number(run.result.imported), Number(rerun.result.unchanged)]
  const cost = ({ cpuMilliseconds, peakMegabytes }: ImportRun) =>
    `${(cpuMilliseconds / rows).toFixed(2)} ms of CPU for each row (bound ${MAX_IMPORT.milliseconds}), at most ${peakMegabytes} MB of memory (bound ${MAX_IMPORT.megabytes})`
  const size = `${rows.toLocaleString('en')} rows (${(statSync(file).size / 1e6).toFixed(1)} MB of CSV)`
  return `Import of ${size}: ${cost(run)}. Run again: ${unchanged.toLocaleString('en')} unchanged, ${cost(rerun)}.`
}

/** Measurements as a Markdown table. */
function markdownTable(lines: readonly Measurement[]): string {
  const round = (value: number) => (Math.round(value * 10) / 10).toLocaleString('en')
  const rows = lines.map(
    ({ label: what, units, bound, roundTrips }) =>
      `| ${what} | ${round(units)} | ${bound.units} | ${roundTrips} | ${bound.roundTrips} |`,
  )
  return ['| | units | bound | round trips | bound |', '|---|---:|---:|---:|---:|', ...rows].join('\n')
}
