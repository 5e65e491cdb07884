/** `npm run bench -- --payments`: what importing payments costs, with the patients and invoices that they need. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brokenImportBounds, MAX_IMPORT } from './bounds.ts'
import { seeded } from './random.ts'
import { type ImportRun, runImport } from './tool-run.ts'

const INVOICES = 4_000
const INVOICES_OF_A_PATIENT = 4
const DAYS = 730

type Rows = readonly object[]

type Line = {
  readonly label: string
  readonly rows: number
  readonly run: ImportRun
}

/**
 * Imports patients, invoices and payments into new clinics: in the order of their dates, and in a random one.
 * @param createClinic creates a clinic in the table `tableName`, and returns its id
 */
export async function measurePayments(
  endpoint: string,
  tableName: string,
  createClinic: () => Promise<string>,
  folder: string,
): Promise<{ section: string; failures: string[] }> {
  const lines: Line[] = []
  async function importRows(clinic: string, entity: string, rows: Rows, label = entity): Promise<void> {
    const file = join(folder, `${entity}.ndjson`)
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const run = await runImport(endpoint, tableName, clinic, file)
    if (run.result.imported !== rows.length) throw new Error(`${entity}: not all rows were imported`)
    lines.push({ label, rows: rows.length, run })
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
  const rows = lines.map(({ label, rows, run }) => {
    const milliseconds = (run.cpuMilliseconds / rows).toFixed(2)
    const cells = [label, rows.toLocaleString('en'), milliseconds, MAX_IMPORT.milliseconds]
    return `| ${[...cells, run.peakMegabytes, MAX_IMPORT.megabytes].join(' | ')} |`
  })
  return `NDJSON into a new clinic, each file by \`clinic import\` in a process of its own, beside the engine in memory. An invoice has two line
items and one payment, which settles it. Milliseconds are CPU time for each row; half a second of the command's is its start.

| | rows | ms | bound | MB | bound |
|---|---:|---:|---:|---:|---:|
${rows.join('\n')}
`
}
