import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, it } from 'vitest'
import { runTool } from '../../../bin/bench/tool-run.ts'
import { newClinic, tableOfFile } from '../../support/table.ts'

const db = tableOfFile()
it('measures', { timeout: 3_000_000 }, async () => {
  const N = 4000
  const folder = mkdtempSync(join(tmpdir(), 'cpu-'))
  const c = await newClinic(db.table)
  const write = (name: string, rows: object[]) => {
    const f = join(folder, `${name}.ndjson`)
    writeFileSync(f, rows.map((r) => JSON.stringify(r) + '\n').join(''))
    return f
  }
  const item = { quantity: 1, tax_rate: 10 }
  const n = Array.from({ length: N }, (_, i) => i)
  const files = [
    write(
      'patients',
      n.map((i) => ({
        external_id: `p${i}`,
        first_name: 'Ayşe',
        last_name: `Y ${i}`,
        email_address: `u${i}@example.com`,
      })),
    ),
    write(
      'invoices',
      n.map((i) => ({
        external_id: `i${i}`,
        patient_external_id: `p${i}`,
        invoice_number: `N${i}`,
        issue_date: `2025-01-${String(1 + (i % 28)).padStart(2, '0')}`,
        line_items: [
          { ...item, description: 'a', unit_price: '100.00' },
          { ...item, description: 'b', unit_price: '50.00' },
        ],
      })),
    ),
    write(
      'payments',
      n.map((i) => ({
        external_id: `y${i}`,
        invoice_external_id: `i${i}`,
        amount: '165.00',
        payment_method: 'card',
        payment_date: '2025-02-01',
      })),
    ),
  ]
  for (const f of files) {
    const check = await runTool(inject('dynamodb'), db.name, ['import', '--check', '--clinic', c.id, f])
    const both = await runTool(inject('dynamodb'), db.name, ['import', '--yes', '--clinic', c.id, f])
    console.log(
      f,
      'check',
      check.cpuMilliseconds / N,
      check.peakMegabytes,
      'both',
      both.cpuMilliseconds / N,
      both.peakMegabytes,
    )
  }
})
