import { expect, it } from 'vitest'
import { trialTable } from '../../../../bin/clinic/import/trial-table.ts'
import { allItems } from '../../../support/all-items.ts'
import { importedClinic, invoice, message, payment, visit } from './calendar-fixtures.ts'

const imported = importedClinic()
const { load } = imported

const bill = { ...invoice, subtotal: 100 }
const unknown = { external_id: 'x', patient_external_id: 'unknown' }
const FILES: [string, object[]][] = [
  ['departments', [{ external_id: 1, name: 'Surgery' }]],
  ['doctors', [{ external_id: 2, full_name: 'Dr. Bo Lind', department_external_id: 1 }]],
  ['holidays', [{ external_id: 1, from: '2026-12-25' }]],
  ['rooms', [{ external_id: 1, name: 'R1', department_external_id: 1 }]],
  ['patients', [{ external_id: 3, first_name: 'Cy', last_name: 'Doe', national_id: 'A1' }]],
  ['patients', [{ external_id: 1, first_name: 'Ada', last_name: 'New' }]],
  ['appointments', [{ ...visit, patient_external_id: 3, doctor_external_id: 2 }]],
  ['appointments', [{ ...visit, ...unknown }]],
  [
    'invoices',
    [
      { ...bill, patient_external_id: 3 },
      { ...bill, external_id: 'j', invoice_number: '8' },
    ],
  ],
  ['payments', [payment, { ...payment, external_id: 'q', invoice_external_id: 'j' }]],
  ['payments', [{ ...payment, external_id: 'r', amount: '99999999999999' }]],
  ['messages', [{ ...message, patient_external_id: 3 }]],
]

async function loadAll(table = imported.db.table) {
  const results: object[] = []
  for (const [name, rows] of FILES) results.push(await load(name, rows, table))
  return results
}

it('tries files that refer to each other, with the outcome of the import, and writes nothing', async () => {
  const before = await allItems(imported.db)
  using trial = trialTable(imported.db.table)
  const tried = await loadAll(trial)
  expect(tried).toMatchObject([
    { imported: 1 },
    { imported: 1 },
    { imported: 1 },
    { imported: 1 },
    { imported: 1 },
    { updated: 1 },
    { imported: 1 },
    { rejected: 1 },
    { imported: 2 },
    { imported: 2 },
    { rejected: 1 },
    { imported: 1 },
  ])
  const byKey = (items: { pk: string; sk: string }[]) =>
    items.toSorted((a, b) => (`${a.pk} ${a.sk}` < `${b.pk} ${b.sk}` ? -1 : 1))
  expect(byKey(await allItems(imported.db))).toEqual(byKey(before))
  expect(await loadAll()).toEqual(tried)
})
