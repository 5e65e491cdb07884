/** `npm run bench -- --payments`: what importing payments costs, with the patients and invoices that they need. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seeded } from '../demo/random.ts'
import { brokenImportBounds, MAX_IMPORT } from './bounds.ts'
import { type ImportRun, runImport } from './tool-run.ts'

const INVOICES = 4_000
const INVOICES_OF_A_PATIENT = 4
const DAYS = 730

type Rows = readonly object[]

type Engine = { readonly endpoint: string; readonly pid?: number | undefined }

type Line = {
  readonly label: string
  readonly rows: number
  readonly run: ImportRun
  readonly engine: number | null
}

/**
 * Imports patients, invoices and payments into new clinics: in the order of their dates, and in a random one.
 * @param createClinic creates a clinic in the table `tableName`, and returns its id
 */
export async function measurePayments(
  engine: Engine,
  tableName: string,
  createClinic: () => Promise<string>,
  folder: string,
): Promise<{ section: string; failures: string[] }> {
  const lines: Line[] = []
  async function importRows(clinic: string, entity: string, rows: Rows, label = entity): Promise<void> {
    const file = join(folder, `${entity}.ndjson`)
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const before = cpuMillisecondsOf(engine.pid)
    const run = await runImport(engine.endpoint, tableName, clinic, file)
    if (run.result.imported !== rows.length) throw new Error(`${entity}: not all rows were imported`)
    const after = cpuMillisecondsOf(engine.pid)
    const spent = before === null || after === null ? null : after - before
    lines.push({ label, rows: rows.length, run, engine: spent })
  }
  const { patients, invoices, payments } = files()
  for (const [rows, label] of [
    [payments, 'payments, by date'],
    [shuffled(payments), 'payments, in random order'],
  ] as const) {
    const clinic = await createClinic()
    await importRows(clinic, 'patients', patients)
    await importRows(clinic, 'invoices', invoices)
    await importRows(clinic, 'payments', rows, label)
  }
  // The second clinic differs only in its payments.
  const shown = lines.filter(({ label }, at) => at < 3 || label.startsWith('payments'))
  const failures = lines.flatMap(({ label, rows, run }) =>
    brokenImportBounds(`importing ${label}`, rows, run),
  )
  return { section: section(shown), failures }
}

/** The kernel counts the CPU time of processes in hundredths of a second. */
const TICK_MILLISECONDS = 10

/** CPU time of a process and its threads so far, or null where the system does not report it. */
function cpuMillisecondsOf(pid: number | undefined): number | null {
  try {
    // The name of the program comes before the last bracket, and may have spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const [user, system] = [fields[11], fields[12]].map(Number)
    return ((user ?? Number.NaN) + (system ?? Number.NaN)) * TICK_MILLISECONDS
  } catch {
    return null
  }
}

function files(): { readonly patients: Rows; readonly invoices: Rows; readonly payments: Rows } {
  const random = seeded(INVOICES)
  const count = INVOICES / INVOICES_OF_A_PATIENT
  const dayOf = (n: number) =>
    new Date(Date.UTC(2024, 0, 1 + Math.floor((n * DAYS) / INVOICES))).toISOString().slice(0, 10)
  const numbers = Array.from({ length: INVOICES }, (_, n) => n)
  const item = { quantity: 1, tax_rate: 10 }
  return {
    patients: Array.from({ length: count }, (_, n) => ({
      external_id: `patient-${n}`,
      first_name: 'Ayşe',
      last_name: `Yılmaz ${n}`,
      email_address: `user${n}@example.com`,
    })),
    invoices: numbers.map((n) => ({
      external_id: `invoice-${n}`,
      patient_external_id: `patient-${random.integer(0, count - 1)}`,
      invoice_number: `INV-${n}`,
      issue_date: dayOf(n),
      line_items: [
        { ...item, description: 'Check-up', unit_price: '100.00' },
        { ...item, description: 'Filling', unit_price: '50.00' },
      ],
    })),
    payments: numbers.map((n) => ({
      external_id: `payment-${n}`,
      invoice_external_id: `invoice-${n}`,
      amount: '165.00',
      payment_method: 'card',
      payment_date: dayOf(n),
    })),
  }
}

function shuffled(rows: Rows): Rows {
  const random = seeded(rows.length)
  return rows
    .map((row) => ({ row, place: random.integer(0, 1e9) }))
    .sort((a, b) => a.place - b.place)
    .map(({ row }) => row)
}

function section(lines: readonly Line[]): string {
  const each = (milliseconds: number | null, rows: number) =>
    milliseconds === null ? '' : (milliseconds / rows).toFixed(2)
  const rows = lines.map(({ label, rows, run, engine }) => {
    const cells = [label, rows.toLocaleString('en'), each(run.cpuMilliseconds, rows), MAX_IMPORT.milliseconds]
    return `| ${[...cells, each(engine, rows), run.peakMegabytes, MAX_IMPORT.megabytes].join(' | ')} |`
  })
  return `NDJSON into a new clinic, each file by \`clinic import\` in a process of its own, beside the engine in memory. An invoice has two line
items and one payment, which settles it. Milliseconds are CPU time for each row; half a second of the command's is its start.

| | rows | ms, import | bound | ms, engine | MB, import | bound |
|---|---:|---:|---:|---:|---:|---:|
${rows.join('\n')}
`
}
