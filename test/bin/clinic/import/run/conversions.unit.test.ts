/** What a converter makes of files, and what is said of one that is wrong. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import {
  type Converter,
  converter,
  later,
  Problem,
  type Row,
} from '../../../../../bin/clinic/import/converters/converter.ts'
import { loadConverter } from '../../../../../bin/clinic/import/converters/load-converter.ts'
import { Conversions } from '../../../../../bin/clinic/import/run/conversions.ts'
import { blocksOf } from '../../../../support/documentation.ts'
import { NOW } from '../../../../support/table.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'

const folder = temporaryFolder()

/** The records of a file by their entities, or what is wrong. */
async function convert({ files }: Converter, content: string, name = 'Kartei 2026.csv') {
  const file = join(folder, name)
  writeFileSync(file, content)
  const path = import.meta.filename
  const reading = { clinic: { timezone: 'Europe/Berlin' }, now: NOW }
  using conversions = new Conversions({ files, path, digest: '' }, reading)
  try {
    const converted = await conversions.add(file)
    const { withoutRecords } = converted.rows
    const found: Record<string, unknown[]> = {}
    for (const entity of converted.entities)
      for await (const row of conversions.records(file, entity)) {
        found[entity] ??= []
        found[entity].push('values' in row ? row.values : `${row.line}: ${row.problem}`)
      }
    return { ...found, ...(withoutRecords.length > 0 && { without: withoutRecords }) }
  } catch (error) {
    return (error as Error).message.replace(`${folder}/`, '')
  }
}

it('gives none, one or several records of a row, a repeated one once, and says which rows have none', async () => {
  const { files } = converter({
    Kartei: (row) => {
      if (row.text('Art') === 'x') return null
      if (row.text('Arzt') === null) throw new Problem('has no doctor')
      return {
        doctors: { external_id: row.text('Arzt'), full_name: row.text('Arzt') },
        rooms: [1, 2].map((n) => ({ external_id: `${row.text('Nr')}-${n}`, name: `R${n}` })),
      }
    },
  })
  const rows = 'Nr;Arzt;Art\n1;Eva;\n2;Eva;\n3;Eva;x\n4;;\n1;Eva;\n'
  expect(await convert({ files }, rows)).toEqual({
    doctors: [{ external_id: 'Eva', full_name: 'Eva' }, '5: has no doctor', '6: repeats an earlier row'],
    rooms: ['1-1', '1-2', '2-1', '2-2'].map((id) => ({ external_id: id, name: `R${id.at(-1)}` })),
    without: [4],
  })
})

const INVOICES = converter({
  Kartei: {
    groupBy: 'Nr',
    convert: ([first, ...others]) => ({
      invoices: {
        ...first.texts({ external_id: 'Nr', invoice_number: 'Nr', patient_external_id: 'P' }),
        issue_date: first.date('Datum', 'd.M.yyyy'),
        line_items: [first, ...others].map((row) => ({
          description: row.text('Text'),
          unit_price: row.amount('Preis', ',', 'EUR'),
        })),
      },
    }),
  },
})

it('gives the rows of one record together, with those below without its id, in the currency of their amounts', async () => {
  const rows =
    'Nr;P;Datum;Text;Preis\n1;7;2.1.2026;A;10,00\n;;;B;5,00 €\n2;7;3.1.2026;A;10,00\n1;;;C;1,00\n2;;;D;?\n'
  const [of, item] = [
    { invoice_number: '1', patient_external_id: '7', issue_date: '2026-01-02', currency: 'EUR' },
    (description: string, unit_price: string) => ({ description, unit_price }),
  ]
  expect(await convert(INVOICES, rows)).toEqual({
    invoices: [
      { external_id: '1', ...of, line_items: [item('A', '10.00'), item('B', '5.00'), item('C', '1.00')] },
      '4: "Preis" is not a number such as 1.234,50',
    ],
  })
  expect(await convert(INVOICES, 'Nr;P;Datum;Text;Preis\n1;7;2.1.2026;A;10,00\n;;;B\n')).toBe(
    'Kartei 2026.csv:3: has 4 columns, but the header has 5: correct the line, which may be a line item',
  )
})

it('rejects an invoice with the row of one of its line items, and stops where it is unclear whose that is', async () => {
  const Kartei = (row: Row) => {
    const external_id = `I${row.text('Nr')}`
    if (row.text('Preis') === null)
      return {
        invoices: { external_id, issue_date: row.date('Tag', 'd.M.yyyy'), line_items: row.text('Tag') && [] },
      }
    return { 'line-items': { external_id, line_items: [{ unit_price: row.amount('Preis', ',', 'EUR') }] } }
  }
  const rows = 'Nr;Preis;Tag\n1;;\n2;;\n3;;\n4;;?\n1;?;\n2;5,00;\n2;5,00;\n3;5,00;\n5;;1.1.2026\n5;5,00;\n'
  expect(await convert(patients({ Kartei }), rows)).toMatchObject({
    invoices: [
      '2: line_items has rows that were rejected',
      '3: line_items has rows that were rejected',
      { external_id: 'I3', line_items: [{ unit_price: '5.00' }] },
      '10: line_items is also in another file',
    ],
    // Imported with the invoice, the rejected rows are all of its items.
    'line-items': [...[5, 6, 7, 8].map((line) => expect.stringMatching(`^${line}: `)), {}, {}],
  })
  expect(await convert(patients({ Kartei }), `${rows}3;5,00;;x\n`)).toBe(
    'Kartei 2026.csv:12: has 4 columns, but the header has 3: correct the line, which may be a line item',
  )
})

it('rejects a row for all of its cells that cannot be read, whatever the function makes of them', async () => {
  const strict = converter({
    Kartei: (row) => {
      const [born, since] = ['geb.', 'seit'].map((column) => row.date(column, 'd.M.yyyy'))
      if (row.text('Nr') === '3' && born === null) throw new Problem('has no birth')
      return {
        patients: { ...person, external_id: row.text('Nr'), notes: (since as string).slice(0, 4) },
      }
    },
  })
  const wrong = (column: string) => `"${column}" is not a date that exists as d.M.yyyy, such as 31.12.1974`
  expect(
    await convert(strict, 'Nr;geb.;seit\n1;1.2.1980;1.2.2020\n2;x;y\n3;x;1.2.2020\n3;;1.2.2020\n'),
  ).toEqual({
    patients: [
      { ...person, notes: '2020' },
      `3: ${wrong('geb.')}; ${wrong('seit')}`,
      `4: ${wrong('geb.')}`,
      '5: has no birth',
    ],
  })
})

const patients = (files: object) => ({ files }) as Converter
const person = { external_id: '1', first_name: 'A', last_name: 'B' }
const ROW = 'Nr;Name\n1;Ada\n'
/** A converter of patients whose notes, and what else is given, are read from a row. */
const noting = (read: (row: Row) => object) =>
  converter({ Kartei: (row) => ({ patients: { ...person, ...read(row) } }) })

it.each<[string, Converter, string]>([
  [
    'takes no such file',
    patients({ Karte: () => null }),
    ': no function of conversions.unit.test.ts takes the file: its names are "Karte"',
  ],
  [
    'reads a column that is missing',
    noting((row) => ({ notes: row.text('Nahme') })),
    ':2: conversions.unit.test.ts:LINE: the file has no column "Nahme" (did you mean Name?)',
  ],
  [
    'groups by a column that is missing',
    converter({ Kartei: { groupBy: 'Nrr', convert: () => null } }),
    ':2: conversions.unit.test.ts:LINE: the file has no column "Nrr" (did you mean Nr?)',
  ],
  [
    'neither reads nor ignores a column',
    noting((row) => ({ notes: row.text('Nr') })),
    ':1: column "Name" is neither read nor ignored',
  ],
  [
    'throws an error whose message may have values',
    noting(() => {
      throw new Error('Ada')
    }),
    ':2: conversions.unit.test.ts:LINE: Error',
  ],
  [
    'reads a property of null',
    noting((row) => ({ notes: JSON.parse('null')[row.text('Name') ?? ''] })),
    ':2: conversions.unit.test.ts:LINE: TypeError: Cannot read properties of null',
  ],
  [
    'returns an unknown field',
    noting(() => ({ frist_name: 'A' })),
    ':2: conversions.unit.test.ts: patients has no field "frist_name" (did you mean first_name?)',
  ],
  [
    'reads the reason of a rejected row',
    converter({ Kartei: (row) => ({ patients: { ...person, notes: row.text('Rejected_because') } }) }),
    ':2: conversions.unit.test.ts:LINE: "Rejected_because" is the reason of an earlier rejection',
  ],
  [
    'returns an unknown entity',
    patients({ Kartei: () => ({ patient: person }) }),
    ':2: conversions.unit.test.ts:LINE: there is no entity "patient" (did you mean patients?)',
  ],
  [
    'returns a promise',
    patients({ Kartei: async () => ({ patients: person }) }),
    ':2: conversions.unit.test.ts:LINE: the function returns a promise',
  ],
  [
    'rejects all rows',
    noting((row) => ({
      notes: row.text('Nr'),
      created_at: row.timestamp('Name', 'yyyy-MM-dd', { zone: 'UTC' }),
    })),
    ': no row gives a record, or can be converted: 1 x "Name" is not a date that exists as yyyy-MM-dd, such as 1974-12-31 (line 2)',
  ],
])('a converter that %s stops the import with where and why', async (_, wrong, message) => {
  const said = String(await convert(wrong, ROW)).replace(/ts:\d+/, 'ts:LINE')
  expect(said).toBe(`Kartei 2026.csv${message}`)
})

it.each([
  [
    'USD',
    'no row gives a record, or can be converted: 1 x currency is not EUR, in which the amounts are read',
  ],
  ['EUR', '"price":"9.00","currency":"EUR"'],
])(
  'takes a currency of %s in the file for that of amounts in EUR, or rejects the row',
  async (currency, expected) => {
    const priced = converter({
      Kartei: (row) => ({
        treatments: {
          ...row.texts({ external_id: 'Nr', name: 'Nr' }),
          duration_minutes: 30,
          price: row.amount('Preis', ',', 'EUR'),
          currency: row.oneOf('Devise', { EUR: 'EUR', USD: 'USD' }),
        },
      }),
    })
    expect(JSON.stringify(await convert(priced, `Nr;Preis;Devise\n1;9,00;${currency}\n`))).toContain(expected)
  },
)

it('reads the converter of the guide', async () => {
  const [block] = blocksOf('docs/operate/moving-in.md').filter(({ language }) => language === 'ts')
  const path = join(folder, 'move.ts')
  writeFileSync(path, block?.text.replace('../bin', resolve('bin')) ?? '')
  const rows = 'Nr.;Vorname;Name;geb.;Mobil;Telefon;G;Ort\n1;Ada;Ay;0/0/00;;030 901820;W;Kiel\n'
  expect(await convert(await loadConverter(path), rows, 'Patienten.csv')).toEqual({
    patients: [
      {
        ...{ external_id: '1', first_name: 'Ada', last_name: 'Ay', date_of_birth: null },
        ...{ phone_number: '+4930901820', gender: 'female' },
      },
    ],
  })
})

it('names all columns that are not read if one is, and none if the first line may be a row', async () => {
  const [one, none] = [noting((row) => ({ external_id: row.text('Nr') })), noting(() => ({}))]
  expect(await convert(one, 'Nr;Name;Ort;;G\n1;;;;\n')).toBe(
    'Kartei 2026.csv:1: column 4 of the header has no name; ' +
      ['Name', 'Ort', 'G'].map((name) => `column "${name}" is neither read nor ignored`).join('; '),
  )
  expect(await convert(none, '1;Ada\n2;Bo\n')).toBe(
    'Kartei 2026.csv:1: columns 1 and 2 are unknown columns, not shown because the line may be a row',
  )
})

it('takes a column that is read only where another is empty for read', async () => {
  const either = noting((row) => ({ notes: row.text('Nr') ?? row.text('Name') }))
  expect(await convert(either, ROW)).toEqual({ patients: [{ ...person, notes: '1' }] })
})

it('keeps what is no number, so that it is rejected instead of being an empty cell', async () => {
  const wrong = noting((row) => ({ external_id: Number(row.text('Name')), notes: row.text('Nr') }))
  expect(await convert(wrong, ROW)).toEqual({ patients: [{ ...person, external_id: 'NaN', notes: '1' }] })
})

it('calculates the end of an appointment, and rejects one after midnight', () => {
  expect([later('09:30', 45), later(null, 45)]).toEqual(['10:15', null])
  expect(() => later('23:30', 45)).toThrow(Problem)
})

it('does not compile with a field, entity or word that no import has, or without a required field', () => {
  // @ts-expect-error
  converter({ A: () => ({ patients: { ...person, frist_name: 'A' } }) })
  // @ts-expect-error
  converter({ A: () => ({ patient: person }) })
  // @ts-expect-error
  converter({ A: (row) => ({ patients: { ...person, gender: row.oneOf('G', { m: 'mal' }) } }) })
  // @ts-expect-error
  converter({ A: () => ({ doctors: { external_id: '1' } }) })
  const line_items = [{ description: 'A', unit_price: '1', prise: '1' }]
  // @ts-expect-error
  converter({ A: () => ({ 'line-items': { external_id: '1', line_items } }) })
})
