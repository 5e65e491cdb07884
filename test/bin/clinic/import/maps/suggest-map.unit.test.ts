import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { importEntities } from '../../../../../bin/clinic/import/entities/entities.ts'
import { readSample } from '../../../../../bin/clinic/import/maps/read-samples.ts'
import { suggestMaps } from '../../../../../bin/clinic/import/maps/suggest-map.ts'
import type { Table } from '../../../../../shared/store/table/table.ts'

const folder = mkdtempSync(join(tmpdir(), 'suggest-map-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('suggests line items where only the first row of an invoice has its number, and names files that share a map', async () => {
  const rows =
    'Invoice No;Patient;Date;Description;Quantity;Unit price\nA;1;2026-01-02;Exam;1;100.00\n;;;Drops;3;10.00\nB;1;2026-01-03;Exam;1;100.00\n'
  const files = ['invoices-2025.csv', 'invoices-2026.csv'].map((name) => join(folder, name))
  for (const file of files) writeFileSync(file, rows)
  const entities = importEntities({} as Table, Date.now)
  const samples = await Promise.all(files.map((file) => readSample(file, undefined)))
  const [first, last] = suggestMaps(samples, entities, undefined)
  expect(last).toMatchObject({
    entity: 'invoices',
    map: { line_items: { description: 'Description', quantity: 'Quantity', unit_price: 'Unit price' } },
  })
  const note =
    'several files of invoices: invoices-2025.csv, invoices-2026.csv. The map has the columns of the last'
  expect([first?.notes[0], last?.notes[0]]).toEqual([note, note])
})
