/** Line items in a file of their own become part of the invoices of another. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import type { Clinic } from '../../../../../shared/domain/clinic.ts'
import { invoiceStore } from '../../../../../shared/store/calendar/invoices.ts'
import { deployedTable } from '../../../../support/deployed-stack.ts'
import { newClinic } from '../../../../support/table.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'

const { db, run } = deployedTable()
const folder = temporaryFolder()

const CONVERTER = `
import { converter } from '${new URL('../../../../../bin/clinic/import/converters/converter.ts', import.meta.url).pathname}'

export default converter({
  Notas: (row) => ({
    invoices: {
      ...row.texts({ external_id: 'Id', invoice_number: 'Nota', patient_external_id: 'Cliënt' }),
      issue_date: row.date('Datum', 'yyyy-MM-dd'),
      total_amount: row.amount('Totaal', ',', 'EUR'),
    },
  }),
  Regels: {
    groupBy: 'NotaId',
    convert: (rows) => ({
      'line-items': {
        external_id: rows[0].text('NotaId'),
        line_items: rows.map((row) => {
          row.ignore('Id', 'Totaal')
          return {
            description: row.text('Omschrijving'),
            quantity: row.number('Aantal', ','),
            unit_price: row.amount('Prijs', ',', 'EUR'),
            doctor_external_id: row.text('Arts'),
          }
        }),
      },
    }),
  },
})
`
const INVOICES = `Id;Nota;Cliënt;Datum;Totaal
1;N1;P;2026-01-02;120,00
2;N2;P;2026-01-03;50,00
3;N3;P;2026-01-04;10,00
4;N4;P;2026-01-05;99,00
`
const ITEMS = `Id;NotaId;Omschrijving;Aantal;Prijs;Totaal;Arts
10;1;Consult;1;100,00;100,00;A
11;2;Consult;1;50,00;50,00;
12;1;Zalf;2;10,00;20,00;
13;3;Zalf;1;gratis;0,00;
14;9;Zalf;1;10,00;10,00;
15;4;Zalf;1;10,00;10,00;
Totaal;;;;;190,00;
`

let clinic: Clinic
const converter = join(folder, 'move.ts')
beforeAll(async () => {
  writeFileSync(converter, CONVERTER)
  clinic = await newClinic(db.table)
  await load({ 'doctors.csv': 'external_id,full_name\nA,Dr. Eva Noll\n' }, [])
  await load({ 'patients.csv': 'external_id,first_name,last_name\nP,Bo,Vis\n' }, [])
})

async function load(files: { readonly [name: string]: string }, options = ['--with', converter]) {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const paths = Object.keys(files).map((name) => join(folder, name))
  return run('import', '--yes', '--clinic', clinic.id, '--json', ...options, ...paths)
}

const invoices = async () =>
  (await invoiceStore(db).page(clinic.id, {}, { page: 1, limit: 10 })).items.map(
    ({ number, total, lineItems }) => [
      number,
      total,
      lineItems.map(({ description, doctor }) => [description, doctor?.fullName].join(' ').trim()),
    ],
  )

it('adds line items of another file, and rejects invoices whose items are wrong or do not add up', async () => {
  const files = { 'Notas.csv': INVOICES, 'Regels.csv': ITEMS }
  const checked = JSON.parse((await load(files, ['--with', converter, '--check'])).printed).data
  const { code, printed } = await load(files)
  expect([code, JSON.parse(printed).data]).toMatchObject([
    1,
    { imported: 2, rejected: 4, line_items_without_invoice: 1 },
  ])
  expect(checked).toMatchObject({ imported: 2, rejected: 4, line_items_without_invoice: 1 })
  const { data } = JSON.parse(printed)
  type Report = { readonly file: string; readonly reasons: readonly { text: string; lines: number[] }[] }
  expect(
    data.files.flatMap(({ file, reasons }: Report) =>
      reasons.map(({ text, lines }) => `${basename(file)}:${lines}: ${text}`),
    ),
  ).toEqual([
    'Regels.csv:5: "Prijs" is not a number such as 1.234,50',
    'Regels.csv:8: looks like a sum of the rows above, not like a record',
    'Notas.csv:4: line_items has rows that were rejected',
    'Notas.csv:5: total_amount is not what subtotal - discount_amount + tax_amount is',
  ])
  expect(await invoices()).toEqual([
    ['N2', 5_000, ['Consult']],
    ['N1', 12_000, ['Consult Dr. Eva Noll', 'Zalf']],
  ])
  expect(JSON.parse((await load(files)).printed).data).toMatchObject({
    imported: 0,
    updated: 0,
    unchanged: 2,
  })
})

it('imports the rejected rows of both files once they are corrected, and updates changed items', async () => {
  const corrected = (name: string, wrong: string, right: string) =>
    readFileSync(join(folder, name), 'utf8').replace(wrong, right)
  const { printed } = await load({
    'Notas.rejected.csv': corrected('Notas.rejected.csv', '99,00', '10,00'),
    'Regels.rejected.csv': corrected('Regels.rejected.csv', 'gratis', '10,00'),
    'Regels-2.csv': ITEMS.replace(/^(Id|15).*\n/gm, '$&').replace(/^1[0-4].*\n|^Totaal.*\n/gm, ''),
  })
  expect(JSON.parse(printed).data).toMatchObject({ imported: 2, updated: 0, line_items_without_invoice: 0 })
  for (const name of ['Notas', 'Regels']) rmSync(join(folder, `${name}.rejected.csv`))
  const again = await load({ 'Notas.csv': INVOICES, 'Regels.csv': ITEMS.replace('Consult', 'Controle') })
  expect(JSON.parse(again.printed).data).toMatchObject({ imported: 0, updated: 1 })
  expect((await invoices()).at(-1)).toEqual(['N1', 12_000, ['Controle Dr. Eva Noll', 'Zalf']])
})

it('counts all line items, and tells of those under the own id of an invoice, which the file of invoices does not have', async () => {
  const [found] = (await invoiceStore(db).page(clinic.id, {}, { page: 1, limit: 1 })).items
  const files = {
    'invoices.csv': 'external_id,patient_external_id,invoice_number,issue_date\n1,P,N1,2026-01-02\n',
    'line-items.csv': `id,line_items\n${found?.id},[]\n${found?.id},[]\n`,
  }
  const { data } = JSON.parse((await load(files, [])).printed)
  expect([data.line_items_without_invoice, data.files[0].rows.records]).toEqual([1, 2])
})
