/** `npm run bench`: measures the cost of reads and writes, fails if a bound is exceeded, and writes docs/benchmarks.md. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { Command } from 'commander'
import { bundleFunctions } from '../infra/functions/bundles.ts'
import { startDynamoDb } from '../infra/local/engines/dynamodb.ts'
import { functionIds } from '../infra/stacks/deployment.ts'
import type { ClinicId } from '../shared/domain/clinic.ts'
import { newUuid } from '../shared/domain/uuid.ts'
import { clinicStore } from '../shared/store/clinics.ts'
import { openTable, type Table } from '../shared/store/table/table.ts'
import { measureAppointments } from './bench/appointments.ts'
import { costTables, withCostTables } from './bench/capacity.ts'
import { measureContention } from './bench/contention.ts'
import { createTable } from './bench/create-table.ts'
import { measureDeliveries } from './bench/deliveries.ts'
import { runImport } from './bench/import.ts'
import { measureMessages } from './bench/messages.ts'
import { type Measurement, measurePatients, writePatients } from './bench/patients.ts'
import { measurePayments } from './bench/payments.ts'
import { importLine, keepSections, markdownTable, renderReport, replaceSection } from './bench/report.ts'
import { measureVerification } from './bench/verification.ts'

const { large, write, contention, payments, verification, cost } = new Command('npm run bench --')
  .option('--large', 'also measure a clinic of a million patients (takes minutes)', false)
  .option('--contention', 'measure only what concurrent writers of one clinic get (takes minutes)', false)
  .option('--payments', 'measure only what importing payments costs', false)
  .option('--verification', 'measure only verifications of whole clinics (takes minutes)', false)
  .option('--cost', 'calculate only what requests and clinics cost, for docs/operate/capacity.md', false)
  .option('--no-write', 'print the report instead of writing docs/benchmarks.md')
  .parse()
  .opts<{
    large: boolean
    write: boolean
    contention: boolean
    payments: boolean
    verification: boolean
    cost: boolean
  }>()

const REPORT = 'docs/benchmarks.md'
const CAPACITY = 'docs/operate/capacity.md'
const MAX_IMPORT_MEGABYTES = 300

const folder = mkdtempSync(join(tmpdir(), 'clinic-bench-'))
const printLine = (text: string) => process.stdout.write(`${text}\n`)
const failures: string[] = []
let engine: Awaited<ReturnType<typeof startDynamoDb>>

try {
  if (cost) writeCosts()
  else if (contention) await onEngine(benchContention)
  else if (payments) await onEngine(benchPayments)
  else if (verification) await onEngine(benchVerification)
  else await onEngine(benchCosts)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

if (failures.length > 0) {
  printLine(`\nBounds exceeded:\n${failures.map((failure) => `  ${failure}`).join('\n')}`)
  process.exitCode = 1
}

function writeCosts(): void {
  if (write) writeFileSync(CAPACITY, withCostTables(readFileSync(CAPACITY, 'utf8')))
  else printLine(costTables())
}

async function onEngine(work: () => Promise<void>): Promise<void> {
  engine = await startDynamoDb({
    onUnexpectedExit: (message) => {
      throw new Error(message)
    },
  })
  try {
    await work()
  } finally {
    await engine.stop()
  }
}

async function benchCosts(): Promise<void> {
  const raw = newClient()
  await createTable(raw, 'bench')
  const client = DynamoDBDocumentClient.from(raw)
  const sections: string[] = []
  const sizes = [1_000, 10_000, 100_000, ...(large ? [1_000_000] : [])]
  for (const count of sizes) {
    printLine(`A clinic of ${count.toLocaleString('en')} patients...`)
    sections.push(await patientSection(client, count))
  }
  for (const count of sizes) {
    printLine(`A clinic of ${count.toLocaleString('en')} appointments...`)
    sections.push(await appointmentSection(raw, count))
  }
  sections.push(await messageSection())
  const bundles = bundleSection()
  if (write)
    writeFileSync(REPORT, keepSections(renderReport(sections, bundles), readFileSync(REPORT, 'utf8')))
  printLine(write ? `\nWrote ${REPORT}.` : `\n${[...sections, bundles].join('\n')}`)
}

async function benchContention(): Promise<void> {
  const { section, failures: broken } = await measureContention(engine.endpoint, printLine)
  failures.push(...broken)
  if (write) writeFileSync(REPORT, replaceSection(readFileSync(REPORT, 'utf8'), section))
}

async function benchPayments(): Promise<void> {
  const table = openTable(await benchClient(), 'bench')
  writeSection(await measurePayments(engine, 'bench', () => createClinic(table), folder))
}

async function benchVerification(): Promise<void> {
  const sizes = [2_000, 10_000]
  const measured = await measureVerification(await benchClient(), engine.endpoint, 'bench', sizes)
  failures.push(...measured.failures)
  writeSection(measured.section)
}

/** A client of a new table, `bench`. */
async function benchClient(): Promise<DynamoDBDocumentClient> {
  const raw = newClient()
  await createTable(raw, 'bench')
  return DynamoDBDocumentClient.from(raw)
}

function writeSection(section: string): void {
  printLine(`\n${section}`)
  if (write) writeFileSync(REPORT, replaceSection(readFileSync(REPORT, 'utf8'), section))
}

function newClient(): DynamoDBClient {
  return new DynamoDBClient({
    endpoint: engine.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'bench', secretAccessKey: 'local' },
  })
}

async function createClinic(table: Table): Promise<ClinicId> {
  const id = newUuid() as ClinicId
  const createdAt = new Date().toISOString()
  const settings = { timezone: 'Europe/Istanbul', currency: 'TRY', appointmentMinutes: 30 }
  await clinicStore({ table }).create({ id, name: 'Bench', ...settings, createdAt })
  return id
}

async function patientSection(client: DynamoDBDocumentClient, count: number): Promise<string> {
  const id = await createClinic(openTable(client, 'bench'))
  const file = join(folder, 'patients.csv')
  await writePatients(file, count)
  const run = await runImport(engine.endpoint, 'bench', id, file)
  const rerun = await runImport(engine.endpoint, 'bench', id, file)
  for (const { peakMegabytes } of [run, rerun]) {
    if (peakMegabytes >= MAX_IMPORT_MEGABYTES) failures.push(`importing ${count}: ${peakMegabytes} MB`)
  }
  const lines = await measurePatients(client, 'bench', id, count)
  checkBounds(`${count} patients`, lines)
  return [
    `## ${count.toLocaleString('en')} patients`,
    '',
    importLine(run, rerun, file),
    '',
    markdownTable(lines),
    '',
  ].join('\n')
}

async function appointmentSection(raw: DynamoDBClient, count: number): Promise<string> {
  // Two clients, so that building the clinic is not measured.
  const [build, measured] = [DynamoDBDocumentClient.from(raw), DynamoDBDocumentClient.from(newClient())]
  const lines = await measureAppointments(build, measured, 'bench', newUuid() as ClinicId, count)
  checkBounds(`${count} appointments`, lines)
  return [`## ${count.toLocaleString('en')} appointments`, '', markdownTable(lines), ''].join('\n')
}

async function messageSection(): Promise<string> {
  const [build, measured] = [
    DynamoDBDocumentClient.from(newClient()),
    DynamoDBDocumentClient.from(newClient()),
  ]
  const lines = [
    ...(await measureMessages(build, measured, 'bench')),
    ...(await measureDeliveries(build, measured, 'bench')),
  ]
  checkBounds('messages', lines)
  return ['## Messages and events', '', markdownTable(lines), ''].join('\n')
}

function checkBounds(of: string, lines: readonly Measurement[]): void {
  for (const { label: what, bound, units, roundTrips } of lines) {
    if (bound && (units > bound.units || roundTrips > bound.roundTrips)) {
      failures.push(`${of}, ${what}: ${units} units, ${roundTrips} round trips`)
    }
  }
}

function bundleSection(): string {
  const outdir = join(folder, 'bundles')
  bundleFunctions(functionIds(), outdir)
  const rows = functionIds().map((id) => {
    const bytes = readFileSync(join(outdir, id, 'index.js')).length
    return `| ${id} | ${Math.round(bytes / 1024)} |`
  })
  return ['## Bundles', '', '| function | KB, minified |', '|---|---:|', ...rows, ''].join('\n')
}
