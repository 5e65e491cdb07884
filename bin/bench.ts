/** `npm run bench`: measures what reads and writes cost, fails where a bound is passed, and writes docs/benchmarks.md. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { Command } from 'commander'
import { bundleFunctions } from '../infra/bundles.ts'
import { functionIds } from '../infra/clinic-stack.ts'
import { startDynamoDb } from '../infra/local/engines/dynamodb.ts'
import type { ClinicId } from '../shared/domain/clinic.ts'
import { newUuid } from '../shared/domain/uuid.ts'
import { clinicStore } from '../shared/store/clinics.ts'
import { openTable } from '../shared/store/table/table.ts'
import { measureAppointments } from './bench/appointments.ts'
import { type ImportRun, runImport } from './bench/import.ts'
import { measureMessages } from './bench/messages.ts'
import { type Measurement, measurePatients, writePatients } from './bench/patients.ts'

const { large, write } = new Command('npm run bench --')
  .option('--large', 'also a clinic of a million patients (minutes)', false)
  .option('--no-write', 'leave docs/benchmarks.md as it is')
  .parse()
  .opts<{ large: boolean; write: boolean }>()

const REPORT = 'docs/benchmarks.md'
const MAX_IMPORT_MEGABYTES = 300

const folder = mkdtempSync(join(tmpdir(), 'clinic-bench-'))
const engine = await startDynamoDb({
  onUnexpectedExit: (message) => {
    throw new Error(message)
  },
})
const printLine = (text: string) => process.stdout.write(`${text}\n`)
const failures: string[] = []

try {
  const raw = newClient()
  await raw.send(
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
  if (write) writeFileSync(REPORT, renderReport(sections, bundles))
  printLine(write ? `\n${REPORT} is written.` : `\n${[...sections, bundles].join('\n')}`)
} finally {
  await engine.stop()
  rmSync(folder, { recursive: true, force: true })
}

if (failures.length > 0) {
  printLine(`\nBounds passed:\n${failures.map((failure) => `  ${failure}`).join('\n')}`)
  process.exitCode = 1
}

function newClient(): DynamoDBClient {
  return new DynamoDBClient({
    endpoint: engine.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'bench', secretAccessKey: 'local' },
  })
}

async function patientSection(client: DynamoDBDocumentClient, count: number): Promise<string> {
  const id = newUuid() as ClinicId
  const createdAt = new Date().toISOString()
  const clinic = {
    id,
    name: 'Bench',
    timezone: 'Europe/Istanbul',
    currency: 'TRY',
    appointmentMinutes: 30,
    createdAt,
  }
  await clinicStore({ table: openTable(client, 'bench') }).create(clinic)
  const file = join(folder, 'patients.csv')
  await writePatients(file, count)
  const run = await runImport(engine.endpoint, 'bench', id, file)
  const rerun = await runImport(engine.endpoint, 'bench', id, file)
  for (const { peakMegabytes } of [run, rerun]) {
    if (peakMegabytes && peakMegabytes >= MAX_IMPORT_MEGABYTES)
      failures.push(`importing ${count}: ${peakMegabytes} MB`)
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
  // Two clients: what builds the clinic is not measured.
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
  const lines = await measureMessages(build, measured, 'bench')
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

function importLine(run: ImportRun, rerun: ImportRun, file: string): string {
  const rows = Number(run.result.imported)
  const memory = run.peakMegabytes === null ? '' : `, at most ${run.peakMegabytes} MB of memory`
  const megabytes = (statSync(file).size / 1e6).toFixed(1)
  return (
    `Import of ${rows.toLocaleString('en')} rows (${megabytes} MB of CSV): ${Math.round(rows / run.seconds).toLocaleString('en')} rows a second${memory}. ` +
    `Run again: ${Number(rerun.result.unchanged).toLocaleString('en')} unchanged, ${Number(rerun.result.imported) + Number(rerun.result.updated)} written, in ${Math.round((rerun.seconds / run.seconds) * 100)} % of the time.`
  )
}

function markdownTable(lines: readonly Measurement[]): string {
  const round = (value: number) => (Math.round(value * 10) / 10).toLocaleString('en')
  const rows = lines.map(
    ({ label: what, units, bound, roundTrips, calls, bytes }) =>
      `| ${what} | ${round(units)} | ${bound?.units ?? ''} | ${roundTrips} | ${bound?.roundTrips ?? ''} | ${calls} | ${round(bytes / 1024)} |`,
  )
  return [
    '| | units | bound | round trips | bound | calls | KB |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...rows,
  ].join('\n')
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

function renderReport(sections: readonly string[], bundles: string): string {
  return `# Benchmarks

Written by \`npm run bench\` (with \`--large\` for the largest clinic), on the local DynamoDB engine. Units are read units of
strongly consistent reads as the engine's \`ConsumedCapacity\` reports them, write units where the line says so. Round trips
are calls that had to wait for one another. A line with a bound fails the bench when it passes it. Authentication adds one
read unit and one round trip to every request, and a write beside it that counts the request.

${[...sections, bundles].join('\n')}`
}
