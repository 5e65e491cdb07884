/** Files that only a map makes importable, each with what it leaves in the clinic. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { rowsFile } from '../../../../bin/clinic/import/files/rejections.ts'
import { readColumnMap } from '../../../../bin/clinic/import/maps/column-map.ts'
import { Aliases } from '../../../../bin/clinic/import/run/aliases.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { importEntities } from '../../../../shared/sync/entities/entities.ts'
import { importRecords } from '../../../support/imports.ts'
import { NOW, newClinic, tableOfFile } from '../../../support/table.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const db = tableOfFile()
const folder = temporaryFolder()

let clinic: Clinic
beforeEach(async () => {
  clinic = await newClinic(db.table)
})

const aliases = new Aliases()
afterAll(() => aliases[Symbol.dispose]())

async function load(entity: string, map: object, content: string, name = `${entity}.csv`) {
  const path = join(folder, 'map.json')
  writeFileSync(path, JSON.stringify(map))
  writeFileSync(join(folder, name), content)
  const columns = readColumnMap(
    path,
    importEntities(db.table, () => NOW),
  )
  return importRecords(db.table, clinic, entity, join(folder, name), { map: columns, aliases })
}

const PEOPLE = 'external_id,first_name,last_name,date_of_birth,phone_number,email_address\n'
const people = async () =>
  (await patientStore(db).page(clinic.id, { page: 1, limit: 100 })).items
    .map(({ lastName, dateOfBirth, phoneNumber, emailAddress }) => [
      lastName,
      dateOfBirth,
      phoneNumber,
      emailAddress,
    ])
    .reverse()

it('leaves out invalid values that are optional, and takes them once they are corrected', async () => {
  const map = {
    dates: ['D.M.YYYY'],
    country: 'PL',
    entities: { patients: { optional: ['phone_number', 'email_address', 'date_of_birth'] } },
  }
  const rows =
    '1,Jo,Doe,31.2.1974,none,jo@example.com\n2,Al,Roe,1.2.1974,512 345 678,at home\n3,,,x,x,x\n4,Di,Coe,,,\n'
  const first = await load('patients', map, PEOPLE + rows)
  expect(first).toMatchObject({ imported: 3, rejections: ['4: first_name is required'], warnings: 3 })
  expect(first.warned).toEqual([
    '2: left out: phone_number is neither a phone number of PL, the country in the map, such as 512 345 678, nor one with a country code',
    '2: left out: date_of_birth is not a date that exists',
    '3: left out: email_address must be an email address',
  ])
  expect(await people()).toEqual([
    ['Doe', null, null, 'jo@example.com'],
    ['Roe', '1974-02-01', '+48512345678', null],
    ['Coe', null, null, null],
  ])
  const leftOut = rowsFile(join(folder, 'patients.csv'), 'left-out')
  const text = readFileSync(leftOut, 'utf8').replace('\uFEFF', '')
  expect(text.split('\n').map((line) => line[0])).toEqual(['e', '1', '2', undefined])
  const corrected = text.replace('31.2', '28.2').replace('none', '512 345 679').replace('at home', 'al@a.pl')
  expect(await load('patients', map, corrected, 'patients.left-out.csv')).toMatchObject({
    updated: 2,
    warnings: 0,
  })
  expect((await people()).slice(0, 2)).toEqual([
    ['Doe', '1974-02-28', '+48512345679', 'jo@example.com'],
    ['Roe', '1974-02-01', '+48512345678', 'al@a.pl'],
  ])
  expect(existsSync(rowsFile(leftOut, 'left-out'))).toBe(false)
})

const ITEMIZED = {
  decimal: 'comma',
  entities: {
    invoices: {
      columns: {
        external_id: 'No',
        invoice_number: 'No',
        patient_external_id: 'Patient',
        issue_date: 'Date',
      },
      line_items: { description: 'Item', quantity: 'Qty', unit_price: 'Price', tax_rate: 'VAT' },
    },
  },
}

async function loadInvoices(rows: readonly string[]) {
  await load('patients', { entities: {} }, `${PEOPLE}1,Jo,Doe,,,\n`)
  const result = await load('invoices', ITEMIZED, `No;Patient;Date;Item;Qty;Price;VAT\n${rows.join('\n')}\n`)
  const stored = await invoiceStore(db).page(clinic.id, {}, { page: 1, limit: 10 })
  const rejected = rowsFile(join(folder, 'invoices.csv'), 'rejected')
  return {
    result,
    invoices: stored.items.map(({ number, total, lineItems }) => [number, total, lineItems.length]),
    rejectedRows: readFileSync(rejected, 'utf8').trimEnd().split('\n').slice(1),
  }
}

it('rejects amounts with the unit of the clinic if the invoice is in another currency', async () => {
  await load('patients', { entities: {} }, `${PEOPLE}1,Jo,Doe,,,\n`)
  const map = { decimal: 'comma', entities: {} }
  const invoice = (amount: string, currency: string) =>
    load(
      'invoices',
      map,
      `external_id;patient_external_id;invoice_number;issue_date;subtotal;currency\nA;1;A;2026-01-02;${amount};${currency}\n`,
    )
  expect(await invoice('100,00', 'USD')).toMatchObject({ imported: 1 })
  const header = 'external_id;invoice_external_id;amount;payment_method;payment_date\n'
  const payments = ['P;A;12,50;cash;2026-01-03', 'Q;A;12,50 €;cash;2026-01-03']
  expect(await load('payments', map, `${header}${payments.join('\n')}\n`)).toMatchObject({
    imported: 1,
    rejections: ['3: currency must be USD, the currency of the invoice'],
  })
  expect(await invoice('150,00 €', '')).toMatchObject({
    rejections: ['2: currency cannot change once there are payments'],
  })
})

it('adds rows without an id to the invoice above, and never imports a part of its items', async () => {
  const { result, invoices, rejectedRows } = await loadInvoices([
    ';;;Orphan;1;1,00;0',
    'A;1;2026-01-02;Exam;1;100,00;0',
    ';;;Drops;3;10,00;0',
    'Subtotal;;;;;130,00;',
    ';;;Total care;1;20,00;0',
    'B;1;2026-01-03;Exam;1;100,00;0',
    ';;;Drops;1;free;0',
    'E;1;2026-01-06;Exam;1;100,00;0',
  ])
  expect(result.rejections.map((text) => text.replace(/(no row above has one);.*/, '$1'))).toEqual([
    '2: external_id is required: no row above has one',
    '5: looks like a sum of the rows above, not like a record',
    '7: line_items.unit_price is not a number such as 1.234,50, as the map says',
  ])
  expect(invoices).toEqual([
    ['E', 10_000, 1],
    ['A', 15_000, 3],
  ])
  expect(rejectedRows.map((line) => line.split(';', 4).join(';'))).toEqual([
    ';;;Orphan',
    'Subtotal;;;',
    'B;1;2026-01-03;Exam',
    ';;;Drops',
  ])
  const broken = loadInvoices(['C;1;2026-01-04;Exam;1;100,00;0', ';;;Drops;1'])
  await expect(broken).rejects.toThrow(
    'invoices.csv:3: has 5 columns, but the header has 7: correct the line, which may be a line item',
  )
})

it('does not add rows to a record that are below a row that cannot be read', async () => {
  const map = { entities: { patients: { group: true } } }
  const rows = '1,Jo,Doe,,,\n,,,,,jo@example.com\n2,Al\n,,,1974-02-01,,\n'
  expect(await load('patients', map, PEOPLE + rows)).toMatchObject({ imported: 1, rejected: 2 })
  expect(await people()).toEqual([['Doe', null, null, 'jo@example.com']])
})

it('finds the doctors of line items by their names, and takes rows that have only a doctor for none', async () => {
  const map = {
    entities: {
      doctors: { aliases: ['full_name'] },
      invoices: {
        line_items: { description: 'Item', unit_price: 'Price', doctor_external_id: 'Provider' },
      },
    },
  }
  await load('patients', map, `${PEOPLE}P,Jo,Doe,,,\n`)
  await load('doctors', map, 'external_id,full_name\n1,Eva Noll\n2,Bo Lind\n3,Bo Lind\n')
  const header = 'external_id,patient_external_id,invoice_number,issue_date,subtotal,Item,Price,Provider\n'
  const rows = [
    '1,P,N1,2026-01-02,,Exam,10,Eva Noll',
    '2,P,N2,2026-01-02,20,,,Eva Noll',
    '3,P,N3,2026-01-02,,Exam,10,Bo Lind',
    '4,P,N4,2026-01-02,,Exam,10,Al Roe',
  ]
  expect((await load('invoices', map, `${header}${rows.join('\n')}\n`)).rejections).toEqual([
    '4: line_items.doctor_external_id names several doctors of the files',
    '5: line_items.0.doctor_external_id is unknown: the clinic has no such doctor, or its row was rejected',
  ])
  const { items } = await invoiceStore(db).page(clinic.id, {}, { page: 1, limit: 10 })
  expect(
    items.map(({ number, lineItems }) => [number, ...lineItems.map(({ doctor }) => doctor?.fullName)]).sort(),
  ).toEqual([['N1', 'Eva Noll'], ['N2']])
})

it('finds patients by national ids and names, and rejects rows that name several', async () => {
  const map = {
    entities: {
      patients: {
        aliases: [
          'national_id',
          { join: ['last_name', 'first_name'] },
          { join: ['last_name', 'first_name', { column: 'date_of_birth', match: '^\\d{4}' }] },
        ],
      },
    },
  }
  const patients =
    'external_id,first_name,last_name,date_of_birth,national_id\n' +
    '1,Jan,Novák,1975-03-02,750302/1234\n2,Jan,Novák,1980-01-01,\n3,Eva,Malá,,\n7503021234,Ida,Malá,,\n'
  await load('patients', map, patients)
  const texts = ['7503021234', '750302-1234', 'Novák, Jan (1980)', 'MALÁ EVA', 'Novák Jan', '9']
  const rows = texts.map((text, at) => `${at},"${text}",A${at},2026-01-02,1`)
  const { rejections } = await load(
    'invoices',
    map,
    `external_id,patient_external_id,invoice_number,issue_date,subtotal\n${rows.join('\n')}\n`,
  )
  expect(rejections).toEqual([
    '6: patient_external_id names several patients of the files',
    '7: patient_external_id is unknown: the clinic has no such patient, or its row was rejected',
  ])
  const { items } = await invoiceStore(db).page(clinic.id, {}, { page: 1, limit: 10 })
  expect(items.map(({ number, patient }) => `${number} ${patient.fullName}`).sort()).toEqual([
    'A0 Ida Malá',
    'A1 Jan Novák',
    'A2 Jan Novák',
    'A3 Eva Malá',
  ])
})
