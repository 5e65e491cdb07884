import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { importEntities } from '../../../../../bin/clinic/import/entities/entities.ts'
import { encodeText } from '../../../../../bin/clinic/import/files/encoding.ts'
import { readSamples } from '../../../../../bin/clinic/import/maps/read-samples.ts'
import { suggestMaps } from '../../../../../bin/clinic/import/maps/suggest-map.ts'
import type { Table } from '../../../../../shared/store/table/table.ts'

const folder = mkdtempSync(join(tmpdir(), 'suggest-map-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The maps that are suggested for files, by entity, and what is noted about them. */
async function suggested(files: { readonly [name: string]: string | Buffer }) {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const paths = Object.keys(files).map((name) => join(folder, name))
  const samples = await readSamples(paths, () => undefined)
  const entities = importEntities({} as Table, Date.now)
  const found = suggestMaps(samples, entities, undefined)
  return {
    maps: Object.fromEntries(found.map(({ entity, map }) => [entity, map])),
    notes: found.flatMap(({ notes }) => notes),
  }
}

it('suggests one map for several files of an entity, with the columns of all', async () => {
  const { maps } = await suggested({
    'Bills-2025.csv': 'Invoice No;Patient;Date;Total\nA;1;31.01.2026;1,50\n',
    'Bills-2026.csv': 'Invoice No;Patient;Invoice date;Total;Due\nB;1;2.1.26;1,00;\n',
  })
  expect(Object.keys(maps)).toEqual(['invoices'])
  expect(maps.invoices).toMatchObject({
    file: ['Bills-2025', 'Bills-2026'],
    dates: ['D.M.YYYY', 'D.M.YY'],
    columns: { external_id: 'Invoice No', issue_date: ['Date', 'Invoice date'], due_date: 'Due' },
  })
})

it('suggests line items where only the first row of an invoice has its number', async () => {
  const { maps } = await suggested({
    'invoices.csv':
      'Invoice No;Patient;Date;Description;Quantity;Unit price\nA;1;2026-01-02;Exam;1;100.00\n;;;Drops;3;10.00\nB;1;2026-01-03;Exam;1;100.00\n',
  })
  expect(maps.invoices).toMatchObject({
    line_items: { description: 'Description', quantity: 'Quantity', unit_price: 'Unit price' },
  })
})

it('suggests line items of British invoices, whose rows have one amount', async () => {
  const { maps, notes } = await suggested({
    'Invoice lines.csv':
      'Inv Ref,A/C Ref,Tax point,Treatment,Net (£),VAT rate,Status\nI1,P1,28/02/25,Total care,£40.00,20%,PAID\nI1,P1,28/02/25,Exam,"£1,040.00",0%,PAID\nI2,P2,01/03/25,Exam,£40.00,0%,UNPAID\n',
  })
  expect(maps.invoices).toMatchObject({
    file: 'Invoice lines',
    dates: ['D/M/YY'],
    decimal: 'point',
    columns: {
      external_id: 'Inv Ref',
      invoice_number: 'Inv Ref',
      patient_external_id: 'A/C Ref',
      issue_date: 'Tax point',
      status: 'Status',
    },
    line_items: { description: 'Treatment', unit_price: 'Net (£)', tax_rate: 'VAT rate' },
  })
  expect(notes.join()).not.toContain('no column found')
})

it('finds columns with other names by the ids of another file, by a word of their names, and by their values', async () => {
  const { maps, notes } = await suggested({
    'Relaties.csv': 'Relatienr;Cliëntnaam;Geb.dat;M/V\nC1;Bos, Noor;02-03-80;V\nC2;Vis, Bram;31-12-75;M\n',
    'Afspraken.csv':
      'Code;Relatienr;Behandelend arts;Datum afspraak;Aanvang;Eindtijd;Stand\n1;C1;dr. Kok;02-01-25;9:00;9:30;Afgezegd\n2;C1;dr. Kok;03-01-25;9:00;9:30;Verschenen\n',
    'Notas.csv': 'Notanr;Relatienr;Notadatum;Totaal;Stand\nN1;C1;02-01-25;1.000,50;Voldaan\n',
    'Betalingen.csv': 'Volgnr;Notanr;Ontvangen;Bedrag EUR;Wijze van betalen\n1;N1;02-01-25;(10,00);Pin\n',
  })
  expect(maps).toMatchObject({
    doctors: { columns: { external_id: 'Behandelend arts' } },
    patients: { columns: { external_id: 'Relatienr', gender: 'M/V' } },
    appointments: { columns: { patient_external_id: 'Relatienr', status: 'Stand' } },
    invoices: { columns: { patient_external_id: 'Relatienr', issue_date: 'Notadatum', status: 'Stand' } },
    payments: { columns: { invoice_external_id: 'Notanr', amount: 'Bedrag EUR', payment_date: 'Ontvangen' } },
  })
  expect(notes.join()).not.toContain('no column found')
})

it('suggests maps for Swedish files', async () => {
  const { maps, notes } = await suggested({
    'Patienter.csv':
      'Patientnr;Efternamn;Förnamn;Personnummer;Födelsedatum;Kön;Mobiltelefon;E-post\n1;Åberg;Örjan;19740131-1234;1974-01-31;Man;070-123 45 67;o@a.se\n2;Ek;Siv;;1980-02-01;Kvinna;;\n',
    'Bokningar.csv':
      'Boknings-ID;Patientnr;Behandlare;Datum;Starttid;Sluttid;Status\n1;1;Eva Ek;2026-01-02;09:00;09:30;Genomförd\n2;2;Eva Ek;2026-01-02;09:30;10:00;Avbokad\n3;2;Eva Ek;2026-01-03;09:30;10:00;Uteblev\n',
    'Fakturor.csv':
      'Fakturanr;Patientnr;Fakturadatum;Förfallodatum;Artikel;Antal;À-pris;Moms %;Status\nF1;1;2026-01-02;2026-02-02;Besök;1;1 050,50 kr;0;Betald\nF1;1;2026-01-02;2026-02-02;Salva;2;10,00 kr;25;Betald\n',
    'Betalningar.csv':
      'Betalningsnr;Fakturanr;Betaldatum;Belopp;Betalsätt\n1;F1;2026-01-02;100,00 kr;Swish\n2;F1;2026-01-03;-10,00 kr;Kort\n',
  })
  expect(maps.doctors).toMatchObject({ columns: { external_id: 'Behandlare' } })
  expect(maps.patients).toMatchObject({
    country: 'SE',
    columns: {
      external_id: 'Patientnr',
      first_name: 'Förnamn',
      last_name: 'Efternamn',
      national_id: 'Personnummer',
      date_of_birth: 'Födelsedatum',
      gender: 'Kön',
      phone_number: 'Mobiltelefon',
      email_address: 'E-post',
    },
    values: { gender: { man: 'male', kvinna: 'female' } },
  })
  expect(maps.appointments).toMatchObject({
    columns: { external_id: 'Boknings-ID', doctor_external_id: 'Behandlare' },
    values: { status: { genomförd: 'completed', avbokad: 'cancelled', uteblev: 'no_show' } },
  })
  expect(maps.invoices).toMatchObject({
    decimal: 'comma',
    columns: { external_id: 'Fakturanr', issue_date: 'Fakturadatum', due_date: 'Förfallodatum' },
    line_items: { description: 'Artikel', quantity: 'Antal', unit_price: 'À-pris', tax_rate: 'Moms %' },
    values: { status: { betald: 'paid' } },
  })
  expect(maps.payments).toMatchObject({
    columns: { external_id: 'Betalningsnr', amount: 'Belopp', payment_date: 'Betaldatum' },
    values: { payment_method: { swish: 'bank_transfer', kort: 'card' } },
  })
  expect(notes.join()).not.toMatch(/no column found|\?/)
})

it('suggests patterns for names in one column whose last names come first', async () => {
  const { maps, notes } = await suggested({
    'Anagrafica.csv':
      'Codice paziente;Cognome e nome\nP1;DI MARZIO ANNA MARIA\nP2;Della Valle, Marco\nP3;SALMÈ PAOLO\n',
  })
  const { columns } = maps.patients as { columns: { [field: string]: { match: string } } }
  const named = (field: string, name: string) => new RegExp(columns[field]?.match ?? '', 'iu').exec(name)
  const namesOf = (name: string) => [named('first_name', name)?.[1], named('last_name', name)?.[0]]
  expect(['DI MARZIO ANNA MARIA', 'Della Valle, Marco', 'SALMÈ PAOLO'].map(namesOf)).toEqual([
    ['ANNA MARIA', 'DI MARZIO'],
    ['Marco', 'Della Valle'],
    ['PAOLO', 'SALMÈ'],
  ])
  expect(notes).toContain(
    'first_name: last names come first in "Cognome e nome"; check those of several words',
  )
  const other = await suggested({
    'Anagrafica.csv': 'Codice paziente;Nome e cognome\nP1;ANNA MARIA DI MARZIO\n',
  })
  expect(other.maps.patients).toMatchObject({ columns: { last_name: { part: 'last_name' } } })
  expect(other.notes.join()).not.toContain('first_name')
  const unsure = await suggested({ 'Anagrafica.csv': 'Codice paziente;Paziente\nP1;ROSSI ANNA\n' })
  expect(unsure.notes).toContain('first_name: "Paziente" is read as first names before a last name; check it')
})

it('suggests line items of a second file by their values, and the columns by which files name patients and invoices', async () => {
  const { maps, notes } = await suggested({
    'pacientes.csv':
      'Código;Nome;Sobrenome;CPF;Telefone fixo;CEP;Celular\n1;Ana;Reis;123.456.789-09;;01310-100;(11) 91234-5678\n2;Caio;Luz;987.654.321-00;;20040-020;(21) 99876-5432\n',
    'agenda.csv':
      'id;Início;Término;CPF paciente;Profissional\n1;02/01/2026 09:00;02/01/2026 09:30;12345678909;Dra. Nair\n2;15/01/2026 09:00;15/01/2026 09:30;987.654.321-00;Dra. Nair\n',
    'faturas.csv':
      'id;Número;Emissão;Vencimento;CPF;Nome do paciente;Valor total\n501;NF-1;02/01/2026;31/01/2026;12345678909;Ana Reis;R$ 1.200,00\n502;NF-2;02/01/2026;31/01/2026;98765432100;Caio Luz;R$ 50,00\n',
    'itens.csv':
      'id;fatura_id;Descrição;Qtde;Valor unitário\n1;501;Consulta;1;R$ 1.000,00\n2;501;Peeling;2;R$ 100,00\n3;502;Retorno;1;R$ 50,00\n',
    'recebimentos.csv':
      'Recibo;Nº da fatura;Data;Forma de pagamento;Valor\n1;NF-1;02/01/2026;Pix;R$ 100,00\n2;NF-2;15/01/2026;Dinheiro;R$ 50,00\n',
  })
  expect(maps).toMatchObject({
    patients: { country: 'BR', columns: { phone_number: 'Celular' }, aliases: ['CPF'] },
    appointments: { columns: { patient_external_id: 'CPF paciente', end_time: { column: 'Término' } } },
    invoices: {
      columns: {
        external_id: 'id',
        invoice_number: 'Número',
        patient_external_id: 'CPF',
        issue_date: 'Emissão',
        total_amount: 'Valor total',
      },
      aliases: ['Número'],
    },
    'line-items': {
      file: 'itens',
      decimal: 'comma',
      columns: { external_id: 'fatura_id' },
      line_items: { description: 'Descrição', quantity: 'Qtde', unit_price: 'Valor unitário' },
      ignore: ['id'],
    },
    payments: { columns: { invoice_external_id: 'Nº da fatura' } },
  })
  expect(notes.join()).not.toMatch(/no column found|none of these/)
})

it('suggests aliases by names, and notes references that name no patient', async () => {
  const { maps, notes } = await suggested({
    'Pacienti.csv':
      'Číslo pacienta;Příjmení;Jméno;Datum narození\n1;Novák;Jan;2.3.1975\n2;Malá;Eva;31.12.1980\n3;Novák;Jan;1.1.1950\n',
    'Návštěvy.csv':
      'Číslo návštěvy;Datum;Od;Do;Pacient;Lékař\n1;2.1.2026;9:00;9:30;Novák Jan (1975);Dr. Bor\n2;2.1.2026;9:30;10:00;Malá Eva (1980);Dr. Bor\n3;3.1.2026;9:00;9:30;Nikdo;Dr. Bor\n',
  })
  expect(maps.patients).toMatchObject({
    aliases: [{ join: ['Příjmení', 'Jméno', { column: 'Datum narození', match: '\\d{4}' }] }],
  })
  expect(notes).toContain(
    'patient_external_id: 1 of 3 in the other files are none of these patients; see aliases',
  )
})

it('takes a list of staff for doctors, although it has their names in two columns', async () => {
  const { maps } = await suggested({
    'Profissionais.csv':
      'Sigla;Nome;Sobrenome;Especialidade\nHM;Helena;Moura;Fisioterapia\nRB;Rui;Braga;Pilates\n',
    'Pacientes.csv':
      'Código;Nome;Sobrenome;Celular\n1;Ana;Reis;(11) 91234-5678\n2;Caio;Luz;(21) 99876-5432\n',
  })
  expect(maps).toMatchObject({
    doctors: { columns: { specialty: 'Especialidade' } },
    patients: { columns: { external_id: 'Código', first_name: 'Nome' } },
  })
})

it('reads Hungarian files in one encoding, last names first, and times from and to in one column', async () => {
  const latin2 = (text: string) => encodeText(text, 'windows-1250')
  const { maps } = await suggested({
    'Páciensek.csv': latin2(
      'Kartonszám;Páciens neve;Születési dátum\nK1;Nagy Győző;1975. 03. 02.\nK2;Tóth Ödön;1980. 12. 31.\n',
    ),
    'Időpontok.csv': latin2(
      'Sorszám;Dátum;Kezdés;Kartonszám;Orvos;Állapot\n1;2026. 01. 02.;9:00-9:30;K1;Dr. Bíró;Megjelent\n2;2026. 01. 02.;9:30-10:00;K2;Dr. Bíró;Lemondta\n',
    ),
  })
  expect(maps.patients).toMatchObject({ encoding: 'windows-1250' })
  const { columns } = maps.patients as { columns: { [field: string]: { match: string } } }
  expect(new RegExp(columns.last_name?.match ?? '', 'iu').exec('Nagy Győző')?.[0]).toBe('Nagy')
  expect(maps.appointments).toMatchObject({
    encoding: 'windows-1250',
    times: ['H:mm'],
    columns: {
      start_time: { column: 'Kezdés', match: '^[\\d:.]+' },
      end_time: { column: 'Kezdés', match: '[\\d:.]+$' },
    },
    values: { status: { megjelent: 'completed', lemondta: 'cancelled' } },
  })
})

it('suggests line items in columns with numbers, and write-offs as discounts', async () => {
  const { maps, notes } = await suggested({
    'Invoices.csv':
      'Invoice No,Patient,Date,item1_desc,item1_qty,item1_price,item2_desc,item2_qty,item2_price,Total,Written off\n' +
      'A,1,2026-01-02,Exam,1,80.00,Drops,2,5.00,90.00,0.00\nB,1,2026-01-03,Exam,1,80.00,,0,0.00,80.00,30.00\n',
  })
  expect(maps.invoices).toMatchObject({
    columns: { external_id: 'Invoice No', discount_amount: 'Written off' },
    line_items: [
      { description: 'item1_desc', quantity: 'item1_qty', unit_price: 'item1_price' },
      { description: 'item2_desc', quantity: 'item2_qty', unit_price: 'item2_price' },
    ],
    ignore: ['Total'],
  })
  expect(notes).toContain('discount_amount: what "Written off" writes off reduces the total of the invoice')
  const other = await suggested({
    'Invoices.csv':
      'Invoice No,Patient,Date,Item,Price,Item 2,Price 2\nA,1,2026-01-02,Exam,80.00,Drops,5.00\nB,1,2026-01-03,Exam,80.00,,\n',
  })
  expect(other.maps.invoices).toMatchObject({
    line_items: [
      { description: 'Item', unit_price: 'Price' },
      { description: 'Item 2', unit_price: 'Price 2' },
    ],
  })
})

it('notes a file of line items alone, and suggests discounts, doctors and words of Italy', async () => {
  const { maps, notes } = await suggested({
    'practitioners.csv': 'guid,name\n7a1,Dr. Ní Bhriain\n',
    'invoices.csv': 'invoiceGuid,invoiceNumber,clientGuid,total\n1a,INV-1,c1,95.00\n',
    'invoice_lines.csv':
      'lineGuid,invoiceGuid,description,quantity,unitPrice,discountPercent\n1b,1a,Exam,1,100.00,5\n',
  })
  expect(maps.doctors).toMatchObject({ columns: { full_name: 'name' } })
  expect(maps.invoices).toMatchObject({ line_items: { discount_rate: 'discountPercent' } })
  expect(notes).toContain(
    'invoice_lines.csv has no "invoiceNumber": leave the file out, or join it to the other in a spreadsheet',
  )
  const italian = await suggested({
    'Anagrafica.csv': 'Codice paziente;Cognome;Nome;Attivo\nP1;Rossi;Anna;S\nP2;Costa;Luca;N\n',
  })
  expect(italian.maps.patients).toMatchObject({ values: { is_active: { s: true, n: false } } })
})
