import type { ExampleRecorder } from './example-recorder.ts'
import type { Operator } from './operator.ts'

export async function recordFinance(
  { sendRequest: ask, recordSuccess: succeed }: ExampleRecorder,
  { run, importRows: bring }: Operator,
): Promise<void> {
  const today = new Date().toISOString().slice(0, 10)
  await bring('invoices', [
    {
      external_id: 'openapi',
      patient_external_id: 'p1',
      invoice_number: '2026-0417',
      status: 'sent',
      issue_date: today,
      line_items: [{ description: 'Check-up', quantity: 1, unit_price: '1250.00', tax_rate: 10 }],
    },
  ])
  const newest = await ask('GET', '/invoices?limit=1')
  const { id } = newest.body.data[0]
  await run('payment', 'add', '--invoice', id, '--amount', '500.00', '--method', 'card')
  await run('payment', 'add', '--invoice', id, '--amount', '875.00', '--method', 'bank_transfer')
  await succeed('list-invoices', '/invoices?limit=1')
  await succeed('get-invoice', `/invoices/${id}`)
  await succeed('list-payments', '/payments?limit=2')
}
