/** The largest page of the largest invoices that an import accepts. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { importRecords, writeRows } from '../support/imports.ts'
import { newClinic } from '../support/table.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Lambda's limit of a response, in bytes. */
const MAX_RESPONSE_BYTES = 6 * 1024 * 1024

// Responses are not checked, as in production: checking the largest ones would take longer than rendering them.
const db = tableOfFunctions({ CHECK_RESPONSES: 'off' })
const folder = temporaryFolder()

async function load(clinic: Clinic, name: string, rows: object[]): Promise<number> {
  const file = join(folder, `${name}.ndjson`)
  writeRows(file, rows)
  return (await importRecords(db.table, clinic, name, file)).imported
}

it.each([
  ['letters', 'x'],
  ['letters of several bytes', 'ş'],
  ['quotes, which are escaped twice', '"'],
])('GET /invoices?limit=100 fits into a response when descriptions consist of %s', async (_, letter) => {
  const clinic = await newClinic(db.table)
  await load(clinic, 'patients', [{ external_id: 1, first_name: 'Ada', last_name: 'Kaya' }])
  const invoice = (external_id: string, items: number) => ({
    external_id,
    patient_external_id: 1,
    invoice_number: external_id,
    issue_date: '2026-04-01',
    line_items: Array(items).fill({ description: letter.repeat(100), unit_price: 1 }),
  })
  // Invoices of 50, 65, ... 200 line items, of which the smaller ones are accepted.
  const sizes = Array.from({ length: 11 }, (_, index) => 50 + 15 * index)
  const accepted = await load(
    clinic,
    'invoices',
    sizes.map((size) => invoice(`size-${size}`, size)),
  )
  const most = sizes[accepted - 1] as number
  expect(most).toBeLessThan(200)
  const largest = Array.from({ length: 100 }, (_, index) => ({
    ...invoice(`largest-${index}`, most),
    issue_date: '2026-05-01',
  }))
  expect(await load(clinic, 'invoices', largest)).toBe(100)
  const { headers } = await issueCredential(db.table, clinic)
  const response = await request('list-invoices', { query: { limit: '100' }, headers })
  const rendered = JSON.stringify(response.body)
  expect(response.status).toBe(200)
  expect(response.body.data.every(({ line_items }: { line_items: [] }) => line_items.length === most)).toBe(
    true,
  )
  const bytes = Buffer.byteLength(
    JSON.stringify({ statusCode: 200, headers: response.headers, body: rendered }),
  )
  expect(bytes).toBeGreaterThan(0.7 * MAX_RESPONSE_BYTES)
  expect(bytes).toBeLessThan(MAX_RESPONSE_BYTES)
})
