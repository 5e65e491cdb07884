import type { ExampleRecorder } from './example-recorder.ts'
import type { Operator } from './operator.ts'

export async function recordFinance(
  { sendRequest, recordSuccess }: ExampleRecorder,
  { run, importRows }: Operator,
): Promise<void> {
  const today = new Date().toISOString().slice(0, 10)
  await importRows('invoices', [
    {
      external_id: 'openapi',
      patient_external_id: 'p1',
      invoice_number: '2026-0417',
      status: 'sent',
      issue_date: today,
      line_items: [{ description: 'Check-up', quantity: 1, unit_price: '1250.00', tax_rate: 10 }],
    },
  ])
  const newest = await sendRequest('GET', '/invoices?limit=1')
  const { id } = newest.body.data[0]
  const mistyped = await run(
    'payment',
    'add',
    '--invoice',
    id,
    '--amount',
    '5000.00',
    '--method',
    'card',
    '--yes',
  )
  await run('payment', 'void', String(mistyped.id), '--reason', 'Mistyped')
  await run('payment', 'add', '--invoice', id, '--amount', '500.00', '--method', 'card')
  await run('payment', 'add', '--invoice', id, '--amount', '875.00', '--method', 'bank_transfer')
  await recordSuccess('list-invoices', '/invoices?limit=1')
  await recordSuccess('get-invoice', `/invoices/${id}`)
  await recordSuccess('list-invoice-payments', `/invoices/${id}/payments?limit=1`)
  const payments = await recordSuccess('list-payments', '/payments?limit=2')
  await recordSuccess('get-payment', `/payments/${payments.body.data[0].id}`)
}
