/** Files as they come from spreadsheets and other systems, each with its outcome. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rejectedFile } from '../../../../bin/clinic/import/files/rejections.ts'
import { HEADER_PROBLEM, SUM_PROBLEM } from '../../../../bin/clinic/import/files/row.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { encodeText } from '../../../support/encode-text.ts'
import { importRecords } from '../../../support/imports.ts'
import { newClinic, tableOfFile } from '../../../support/table.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const db = tableOfFile()
const folder = temporaryFolder()

/** Imports one file into a clinic of its own. Returns the names of its patients in their order, and what was reported. */
async function imported(content: string | Buffer, name = 'patients.csv') {
  const clinic = await newClinic(db.table)
  const file = join(folder, name)
  writeFileSync(file, content)
  rmSync(rejectedFile(file), { force: true })
  const result = await importRecords(db.table, clinic, name.split('.')[0] ?? '', file).catch(
    (error: Error) => ({ failure: error.message.replace(`${folder}/`, '') }),
  )
  const { items } = await patientStore(db).page(clinic.id, { page: 1, limit: 100 })
  const names = items.map(({ firstName, lastName }) => `${firstName} ${lastName}`).reverse()
  return {
    failure: null,
    rejections: [],
    warned: [],
    ...result,
    names,
    rejectedPath: rejectedFile(file),
  }
}

const HEADER = 'external_id,first_name,last_name\n'
const NOT_UTF8 = '2: is not text in utf-8: save the file as UTF-8 or name its encoding with --encoding'
const TURKISH = `${HEADER}1,Ayşe,Yılmaz\n2,İbrahim,Güneş\n`
const AYSE = ['Ayşe Yılmaz', 'İbrahim Güneş']
const JO = ['Jo Doe']
const CUT = 'has an unclosed quote; the file may be truncated here (CSV_QUOTE_NOT_CLOSED)'
const NO_HEADER = '1: line 1 does not look like a header: it has none of the columns of patients'

it.each<[string, string | Buffer, string[]]>([
  ['names of columns in any case', 'External ID;FIRST_NAME; Last-Name \n1;Jo;Doe\n', JO],
  ['sep=; in its line 1', 'sep=;\r\nexternal_id;first_name;last_name\r\n1;Jo, A.;Doe\r\n', ['Jo, A. Doe']],
  ['a quoted sep=', `"sep=,"\n${HEADER}1,Jo,Doe\n`, JO],
  ['tabs', 'external_id\tfirst_name\tlast_name\n1\tJo\tDoe\n', JO],
  ['commas within quotes of its header', '"external_id";"first_name";"last_name"\n1;Jo;Doe\n', JO],
  [
    'empty columns at the end',
    `${HEADER.trim()},,,\n1,Jo,Doe,,,\n2,Al,Roe\n3,Di,Poe,,\n`,
    ['Jo Doe', 'Al Roe', 'Di Poe'],
  ],
  ['blank rows', `\n${HEADER}\n,,\n1,Jo,Doe\n  , ,\n\n`, JO],
  ['columns separated by |', 'external_id|first_name|last_name\n1|Jo|Doe\n', JO],
  [
    'line endings of Windows, and none at its end',
    '\uFEFFexternal_id;first_name;last_name\r\n1;Jo;"Mc ""Mac"" Doe"',
    ['Jo Mc "Mac" Doe'],
  ],
  [
    'the reasons of rejected rows',
    `external_id,Rejected because,first_name,last_name\n1,was wrong,Jo,Doe\n`,
    JO,
  ],
  ['line endings of an old Mac', `${HEADER}1,Jo,Doe\n`.replaceAll('\n', '\r'), JO],
  ['ids that Excel is to read as text', `${HEADER}="007",Jo,Doe\n"=""008""",Al,Roe\n`, ['Jo Doe', 'Al Roe']],
  ['UTF-16, little-endian', Buffer.from(`\uFEFF${TURKISH}`, 'utf16le'), AYSE],
  ['two byte order marks', `\uFEFF\uFEFF${TURKISH}`, AYSE],
  ['UTF-16, big-endian', Buffer.from(`\uFEFF${TURKISH}`, 'utf16le').swap16(), AYSE],
])('a messy, but clear file with %s is imported', async (_, content, names) => {
  expect(await imported(content)).toMatchObject({ names, rejections: [], failure: null })
})

it.each<[string, string | Buffer, string]>([
  ['Turkish text of Windows', encodeText(TURKISH, 'windows-1254'), NOT_UTF8],
  ['UTF-16 without a byte order mark', Buffer.from(TURKISH, 'utf16le'), NOT_UTF8.replace('2', '1')],
  ['control characters of Latin-1', `${HEADER}1,Zo\u0082,Doe\n`, NOT_UTF8],
  ['a NUL', `${HEADER}1,Jo,Do\0e\n`, NOT_UTF8],
  [
    'a title above its header',
    `"Patients, of all doctors",,\nPrinted: 2026-11-22\n\n${HEADER}1,Jo,Doe\n`,
    `${NO_HEADER}. Remove the lines above the header.`,
  ],
  ['no text', '', ' the file is empty'],
  ['blank lines only', ' \r\n\n', ' the file is empty'],
  ['a byte order mark only', '\uFEFF', ' the file is empty'],
  ['its header only', HEADER, ' the file has no rows'],
  ['an empty row only', `${HEADER},,\n`, ' the file has no rows'],
  ['an unclosed quote', `${HEADER}1,Jo,Doe\n2,Al,"Roe\n`, `3: column 3 ${CUT}`],
  ['rows between two quotes', `${HEADER}1,Jo,"Doe\n2,Al,Roe\n3,Di,Poe"\n`, `2: ${CUT}`],
  [
    'rows between two quotes whose ids are unlike',
    `first_name,last_name,external_id,gender,phone_number,notes\nJo,Doe,1,,,"x\n,Roe,2,,,\nDi,Poe,3,,,y"\n`,
    `2: ${CUT}`,
  ],
  [
    'text after a closing quote',
    `${HEADER}1,"Jo" S,Doe\n`,
    '2: column 2 has text after a closing quote; double the quotes inside a field (CSV_INVALID_CLOSING_QUOTE)',
  ],
  [
    'a quote within a cell',
    `${HEADER}1,Jo "Nan" S,Doe\n`,
    '2: column 2 has a quote in the middle of an unquoted field (INVALID_OPENING_QUOTE)',
  ],
  [
    'columns without a name',
    'external_id,first_name,last_name,,,notes\n1,Jo,Doe,x,,y\n',
    '1: columns 4 and 5 of the header have no name; valid columns of patients are',
  ],
  [
    'a nameless column',
    'external_id,,first_name,last_name\n1,x,Jo,Doe\n',
    '1: column 2 of the header has no name; valid',
  ],
  [
    'a misspelled column',
    'external_id,firstname,last_name\n1,Jo,Doe\n',
    '1: column "firstname" is neither read nor ignored (did you mean first_name?); column "first_name" is missing; valid',
  ],
  [
    'a column twice',
    'external_id,first_name,last_name,first_name\n1,Jo,Doe,Al\n',
    '1: the column "first_name" appears twice; valid',
  ],
  ['a patient instead of a header', '17,Ayla,Kaya\n18,Can,Kaya\n', NO_HEADER],
  [
    'a patient whose value is the name of a column',
    '17,Notes,Kaya,Izmir\n',
    '1: columns 1, 3 and 4 are unknown columns, not shown because the line may be a row; column "external_id" is missing',
  ],
])(
  'a file that cannot be imported because it has %s, says so and imports nothing',
  async (_, content, message) => {
    const { failure, names } = await imported(content)
    expect(failure).toMatch(/^patients\.csv:/)
    expect([failure?.slice('patients.csv:'.length).slice(0, message.length), names]).toEqual([message, []])
    expect(failure).not.toMatch(/Ayla|Kaya|Izmir/)
  },
)

it.each([
  ['amont', ' (did you mean amount?)'],
  // A number of another system would be read as the id of a record.
  ['invoice_nr', ';'],
])('suggests a column for %s, unless it is an id of this system', async (name, suggestion) => {
  const { failure } = await imported(`external_id,invoice_external_id,${name}\n1,2,3\n`, 'payments.csv')
  expect(failure).toContain(`payments.csv:1: column "${name}" is neither read nor ignored${suggestion}`)
})

describe('a row that is rejected', () => {
  const columns = 'external_id,first_name,last_name,date_of_birth,phone_number,created_at\n'
  it.each<[string, string, string[]]>([
    [
      'a date',
      '1,Jo,Doe,31.12.1974,,',
      ['2: date_of_birth is not YYYY-MM-DD (31.12.1974 would be 1974-12-31)'],
    ],
    ['a column too many', '1,Jo,Doe,,,,x', ['2: has 7 columns, but the header has 6']],
    ['an empty column too many', '1,Jo,Doe,,,,', ['2: has 7 columns, but the header has 6']],
    ['a column too few', '1,Jo,Doe', ['2: has 3 columns, but the header has 6']],
    ['no external id', ',Jo,Doe,,,', ['2: external_id is required']],
    ['a birth in the future', '1,Jo,Doe,2026-05-02,,', ['2: date_of_birth must not be in the future']],
    [
      'a number without its country, and no name',
      '1,,,,0049 171 1234567,',
      [
        '2: phone_number needs its country code: +49 171 1234567, not 0171... or 0049...; first_name is required',
      ],
    ],
    ['a sum of the rows above', 'Razem:,300,"1 200,00 zł",,,', [`2: ${SUM_PROBLEM}`]],
    ['a sum with a count', 'TOPLAM,60 hasta,,,,', [`2: ${SUM_PROBLEM}`]],
    ['a sum with other words', 'Grand Total,,all clinics,,,', [`2: ${SUM_PROBLEM}`]],
    ['the header again', columns.trim(), [`2: ${HEADER_PROBLEM}`]],
    ['a creation in the future', '1,Jo,Doe,,,2026-05-01T07:05:00Z', ['2: created_at is in the future']],
  ])('has one reason: %s', async (_, row, rejections) => {
    expect(await imported(`${columns}${row}\n`)).toMatchObject({ rejections, names: [] })
  })

  it('is a sum by its label and its shape, not by a word alone', async () => {
    const items = [
      'T1,Total care,60,80.00',
      'T2,Exam,30,40.50',
      'T3,Summa,30,1000.00',
      'Total,Total,30,5.00',
      'Grand total,,,1 999.99',
      'Summa,,,',
      'Gesamt,,,',
    ]
    const { rejections } = await imported(
      `external_id,name,duration_minutes,price\n${items.join('\n')}\n`,
      'treatments.csv',
    )
    expect(rejections).toEqual([6, 7, 8].map((line) => `${line}: ${SUM_PROBLEM}`))
  })

  it('is rejected again if it is not corrected, whatever was wrong with it', async () => {
    const file = `${columns}1,Jo\n2,Al\n3,Di,Poe,x,,\n4,Ed,Moe,,,,x\n5,,,,,\n`
    const first = await imported(file)
    expect(first.rejections.map((text) => text.split(':')[0])).toEqual(['2', '3', '4', '5', '6'])
    const again = await imported(readFileSync(first.rejectedPath), 'patients.rejected.csv')
    expect(again).toMatchObject({ failure: null, names: [] })
    expect(again.rejections.length).toBe(5)
  })

  it('is written in UTF-8 with a mark, with the delimiter of its file', async () => {
    const text = '\uFEFFsep=;\nexternal_id;first_name;last_name\nŞ1;;\n'
    const { rejectedPath } = await imported(Buffer.from(text, 'utf16le'))
    expect(readFileSync(rejectedPath, 'utf8')).toBe(
      '\uFEFFsep=;\nexternal_id;first_name;last_name;rejected_because\nŞ1;;;first_name is required\n',
    )
  })

  it('of NDJSON keeps its numbers, and gets a new reason', async () => {
    const rows = [
      '{"external_id": 12345678901234567890, "first_name":"Jo","last_name":"Doe", "rejected_because": "old, \\"quoted\\""}',
      '{"external_id":2,"firstname":"Al"}',
      'no json',
    ]
    const first = await imported(`${rows.join('\n')}\n`, 'patients.ndjson')
    expect(readFileSync(first.rejectedPath, 'utf8').split('\n')).toEqual([
      '\uFEFF{"external_id": 12345678901234567890, "first_name":"Jo","last_name":"Doe","rejected_because":"external_id must be text or a safe integer"}',
      '{"external_id":2,"firstname":"Al","rejected_because":"first_name is required; firstname is not a known field (did you mean first_name?)"}',
      '{"text":"no json","rejected_because":"is not JSON"}',
      '',
    ])
    const again = await imported(readFileSync(first.rejectedPath), 'patients.rejected.ndjson')
    expect(again.rejections.length).toBe(3)
  })

  it('of NDJSON has one field twice, spelled in two ways', async () => {
    const row = '{"external_id":"1","External ID":"2","first_name":"Ada","last_name":"Doe"}'
    const { rejections } = await imported(`${row}\n`, 'patients.ndjson')
    expect(rejections).toEqual(['1: "External ID" is the same field as "external_id"'])
  })

  it('has half a character in an external id, which does not stop the others', async () => {
    const rows = [
      '{"external_id":"1\\ud83d","first_name":"Jo","last_name":"Doe"}',
      '{"external_id":"2","first_name":"Al","last_name":"Fa"}',
    ]
    const { rejections, names } = await imported(`${rows.join('\n')}\n`, 'patients.ndjson')
    expect([rejections, names]).toEqual([
      ['1: external_id must not contain control characters or broken Unicode: it has U+D83D'],
      ['Al Fa'],
    ])
  })

  it('is a payment with a minus sign or a write-off, but not a refund with a minus sign', async () => {
    const file =
      'external_id,invoice_external_id,amount,type,payment_method,payment_date\n1,i,-5,payment,cash,2026-01-01\n2,i,-5,,cash,2026-01-01\n3,i,5,write_off,other,2026-01-01\n'
    expect((await imported(file, 'payments.csv')).rejections).toEqual([
      '2: amount of a payment must not be negative; the type of such a row is refund, or empty',
      '3: invoice_external_id is unknown: the clinic has no such invoice, or its row was rejected',
      '4: type is write_off: nothing was paid; add the amount to discount_amount of the invoice instead',
    ])
  })
})

it.each<[string, string, string[]]>([
  ['text that was encoded twice', 'JÃ¼rgen', ['2: first_name looks doubly encoded, as Ã¼ for ü']],
  ['Turkish text that was encoded twice', 'AyÅŸe', ['2: first_name looks doubly encoded, as Ã¼ for ü']],
  ['Polish text that was encoded twice', 'PaweĹ‚', ['2: first_name looks doubly encoded, as Ã¼ for ü']],
  ['an apostrophe that was encoded twice', 'Dâ€™Arcy', ['2: first_name looks doubly encoded, as Ã¼ for ü']],
  ['capital umlauts', 'JÜRGEN ÄÖÅÃ', []],
  ['a typographic apostrophe', 'D’Arcy', []],
])('a row with a warning is imported: %s', async (_, name, warnings) => {
  const { names, ...found } = await imported(`${HEADER}1,${name},Doe\n`)
  expect([found.warned, names]).toEqual([warnings, [`${name} Doe`]])
})
