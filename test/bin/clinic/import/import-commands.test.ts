/** The commands that import files and list their ids: what they print, write and reject. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { departmentStore } from '../../../../shared/store/catalogue.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { announcedPartition, announcedRange } from '../../../../shared/store/keys/events.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { deployedTable, rejection } from '../../../support/deployed-stack.ts'
import { blocksOf } from '../../../support/documentation.ts'
import { newClinic } from '../../../support/table.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const { db, run, runAsked } = deployedTable()
let clinic: Clinic
const folder = temporaryFolder()

beforeEach(async () => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
  clinic = await newClinic(db.table)
})

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const tool = (command: string, ...args: string[]) => run(command, '--clinic', clinic.id, ...args)
const total = async () => (await patientStore(db).page(clinic.id, { page: 1, limit: 1 })).total

const PATIENTS =
  'external_id,first_name,last_name,phone_number\nTR-1,Ayla,Kaya,\nTR-2,Can,Demir,0532 1\nTR-3,Efe,Demir,0532 2\nTR-4,Ece,Ã‡elik,\n'
const INVOICES =
  'external_id,patient_external_id,invoice_number,issue_date,due_date,subtotal,status\n' +
  '1,TR-1,R-1,2026-01-01,,50,paid\n2,TR-1,R-2,2026-01-01,2199-01-01,50,paid\n3,TR-1,R-3,2026-01-01,,50,sent\n'
const PAYMENTS =
  'external_id,invoice_external_id,amount,payment_method,payment_date\n1,1,50,cash,2026-01-02\n'

describe('import --check', () => {
  it('reports what an import would do, without personal data, and writes nothing', async () => {
    const paths = [
      file('payments.csv', PAYMENTS),
      file('invoices.csv', INVOICES),
      file('patients.csv', PATIENTS),
    ]
    const { code, printed, errors, lines } = await tool('import', '--yes', '--check', ...paths)
    expect([code, printed.split('\n')]).toEqual([
      1,
      [
        'patients.csv: patients, utf-8, columns separated by ,',
        '  4 rows read: 2 become records, 2 rejected',
        '  records: 2 imported, 0 updated, 0 unchanged, 2 rejected, 1 warning',
        '  column "external_id": external_id',
        '  column "first_name": first_name',
        '  column "last_name": last_name',
        '  column "phone_number": phone_number',
        '  rejected: 2 x phone_number needs its country code: +49 171 1234567, not 0171... or 0049..., or a country in the map (lines 3 and 4)',
        '  warning: 1 x last_name looks doubly encoded, as Ã¼ for ü (line 5)',
        'invoices.csv: invoices, utf-8, columns separated by ,',
        '  3 rows read: 3 become records, 0 rejected',
        '  records: 3 imported, 0 updated, 0 unchanged, 0 rejected, 1 warning',
        '  sum of subtotal: 150.00, 0.00 in rejected rows',
        ...INVOICES.slice(0, INVOICES.indexOf('\n'))
          .split(',')
          .map((name) => `  column "${name}": ${name}`),
        '  warning: 1 x due_date is more than a year ahead (line 3)',
        'payments.csv: payments, utf-8, columns separated by ,',
        '  1 rows read: 1 become records, 0 rejected',
        '  records: 1 imported, 0 updated, 0 unchanged, 0 rejected',
        '  sum of amount: 50.00, 0.00 in rejected rows',
        ...PAYMENTS.slice(0, PAYMENTS.indexOf('\n'))
          .split(',')
          .map((name) => `  column "${name}": ${name}`),
        'warning: 1 invoice with the status paid has no payments (invoices.csv:3): import the payments, too',
        'Nothing was written.',
        '',
      ],
    ])
    expect(`${printed}${errors}${JSON.stringify(lines)}`).not.toMatch(/Ayla|Kaya|Demir|TR-|elik|0532|\/tmp/)
    expect(await total()).toBe(0)
  })

  it('leaves the file of rejected rows as it is, and makes none', async () => {
    const paths = [
      file('patients.csv', PATIENTS),
      file('patients-valid.csv', PATIENTS.replaceAll('0532', '+90532')),
    ]
    const rejected = ['patients', 'patients-valid'].map((name) => join(folder, `${name}.rejected.csv`))
    const uncorrected = 'external_id,first_name,last_name,phone_number\nTR-2,Can,Demir,0532\n'
    for (const path of rejected) writeFileSync(path, uncorrected)
    await tool('import', '--yes', '--check', ...paths)
    expect(rejected.map((path) => readFileSync(path, 'utf8'))).toEqual([uncorrected, uncorrected])
    for (const path of rejected) rmSync(path)
    await tool('import', '--yes', '--check', ...paths)
    expect(readdirSync(folder).filter((name) => /rejected|unfinished/.test(name))).toEqual([])
  })
  it('counts the cells that each of several formats, "empty" and "match" have read, by column', async () => {
    const map = {
      dates: ['D/M/YYYY', 'M/D/YYYY'],
      empty: ['n/a'],
      entities: {
        patients: {
          columns: {
            external_id: 'Nr',
            first_name: { join: ['Name', { column: 'Initial', match: '^[A-Z]$' }] },
            last_name: 'Surname',
            email_address: { column: 'Contact', match: '\\S+@\\S+' },
            date_of_birth: 'Born',
            created_at: 'Born',
            notes: 'Seen',
          },
        },
      },
    }
    const rows = [
      '1,Jo,B,Doe,jo@a.de,3/4/1980,n/a',
      '2,Al,?,Roe,no mail,12/31/1981,x',
      '3,Di,,N/A,,1982-01-02,n/a',
    ]
    const args = ['--map', file('cells.json', JSON.stringify(map))]
    const path = file('patients-cells.csv', `Nr,Name,Initial,Surname,Contact,Born,Seen\n${rows.join('\n')}\n`)
    const { printed } = await tool('import', '--check', ...args, path)
    expect(printed.split('\n').filter((line) => line.startsWith('  column'))).toEqual([
      '  column "Nr": external_id',
      '  column "Name": first_name',
      '  column "Initial": first_name (1 without a match)',
      '  column "Surname": last_name (1 as empty)',
      '  column "Contact": email_address (1 without a match)',
      '  column "Born": created_at and date_of_birth (1 as D/M/YYYY, 1 as M/D/YYYY, 1 as YYYY-MM-DD)',
      '  column "Seen": notes (2 as empty)',
    ])
    const { data } = JSON.parse((await tool('import', '--check', '--json', ...args, path)).printed)
    expect(data.files[0].columns[6]).toEqual({ column: 'Seen', fields: ['notes'], cells: { 'as empty': 2 } })
  })
})

describe('import', () => {
  it('prints the reconciliation and asks, and writes nothing without a yes', async () => {
    const path = file('patients.csv', PATIENTS)
    const questions: string[] = []
    const answer = (text: string) => async (question: string) => {
      questions.push(question)
      return text
    }
    const reconciliation = '  4 rows read: 2 become records, 2 rejected'
    const alone = await rejection(tool('import', path))
    expect(alone).toContain(reconciliation)
    expect(alone).toContain('Nothing was done. Use --yes to do it.')
    const denied = await rejection(runAsked(answer('no'), 'import', '--clinic', clinic.id, path))
    expect(denied).toContain(reconciliation)
    expect(await total()).toBe(0)
    await runAsked(answer('yes'), 'import', '--clinic', clinic.id, path)
    expect([questions.length, await total()]).toEqual([2, 2])
  })

  it('writes nothing if a file was changed before the answer', async () => {
    const path = file('patients.csv', PATIENTS)
    const change = async () => {
      writeFileSync(path, `${PATIENTS}TR-5,Ali,Ak,\n`)
      return 'yes'
    }
    expect(await rejection(runAsked(change, 'import', '--clinic', clinic.id, path))).toContain(
      `${path} was changed since it was read. Nothing was written: run the import again.`,
    )
    expect(await total()).toBe(0)
  })

  it('replaces no file of rejected rows that is imported too, or has rows that were not imported since', async () => {
    const repeated = `${PATIENTS}TR-1,Ayla,Ay,\n`
    const path = file('patients.csv', repeated)
    const rejected = join(folder, 'patients.rejected.csv')
    // The rows that are rejected again may replace themselves, also one that would be valid by itself.
    for (const _ of ['first', 'again']) expect((await tool('import', '--yes', path)).code).toBe(1)
    const corrected = readFileSync(rejected, 'utf8')
      .replace('0532 1', '')
      .replace(/TR-1.*\n/, '')
    writeFileSync(rejected, corrected)
    for (const check of [[], ['--check']]) {
      expect(await rejection(tool('import', '--yes', ...check, path))).toBe(
        `${rejected} has rows that were not imported since: import it first, or delete it\n`,
      )
      expect(await rejection(tool('import', '--yes', ...check, path, rejected))).toBe(
        `${rejected} would be replaced by rows of ${path}: import it in a run of its own\n`,
      )
    }
    expect([readFileSync(rejected, 'utf8'), await total()]).toEqual([corrected, 2])
    await tool('import', '--yes', rejected)
    expect((await tool('import', '--yes', path)).printed).toContain('3 rejected')
    expect(readFileSync(rejected, 'utf8')).toContain('0532 1')
  })

  it('writes nothing if the path of rejected rows is a folder', async () => {
    const path = file('patients.csv', PATIENTS)
    const rejected = join(folder, 'patients.rejected.csv')
    mkdirSync(rejected)
    expect(await rejection(tool('import', '--yes', path))).toBe(`${rejected} is not a file\n`)
    expect(await total()).toBe(0)
  })

  it('writes nothing if a quote is broken beyond the first batch', async () => {
    const rows = Array.from({ length: 300 }, (_, n) => `${n},First,Last\n`).join('')
    const path = file('patients-broken.csv', `external_id,first_name,last_name\n${rows}300,"First,Last\n`)
    expect(await rejection(tool('import', '--yes', path))).toBe(
      `${path}:302: column 2 has an unclosed quote; the file may be truncated here (CSV_QUOTE_NOT_CLOSED)\n`,
    )
    expect(await total()).toBe(0)
  })

  it('reads nothing under its own name with "ignore": "others", and names each ignored column', async () => {
    const columns = { external_id: 'Nr', first_name: 'Name', last_name: 'Surname' }
    const map = file('others.json', JSON.stringify({ entities: { patients: { columns, ignore: 'others' } } }))
    const path = file('patients-others.csv', 'Nr,Name,Surname,Notes,Gender\n1,Jo,Doe,secret,x\n')
    const { code, printed } = await tool('import', '--yes', '--map', map, path)
    expect([code, printed]).toEqual([0, expect.stringContaining('  ignored: "Notes", "Gender"\n')])
    const { items } = await patientStore(db).page(clinic.id, { page: 1, limit: 1 })
    expect(items).toMatchObject([{ firstName: 'Jo', notes: null }])
  })

  it('is imported as its own entity too if the map reads it for another', async () => {
    const doctors = {
      file: 'appointments',
      group: true,
      columns: { external_id: 'Dr', full_name: 'Dr' },
      ignore: 'others',
    }
    const map = file('both.json', JSON.stringify({ entities: { doctors } }))
    const path = file('appointments-both.csv', 'Dr,Patient\nEva,1\n')
    expect(await rejection(tool('import', '--yes', '--map', map, path))).toContain(
      'appointments-both.csv:1: line 1 does not look like a header: it has none of the columns of appointments',
    )
  })

  it('imports the payments in columns of invoices by the map of the guide, and rejects those of unpaid ones', async () => {
    const maps = blocksOf('docs/operate/moving-in.md').filter(({ text }) => text.includes('"payments": {'))
    const path = file(
      'invoices.csv',
      'Invoice No,Patient external id,Issue date,Subtotal,Paid,Method,Paid on\n' +
        'R-1,TR-1,2026-01-01,50,50.00,card,2026-01-03\nR-2,TR-1,2026-01-01,50,,,\nR-3,TR-1,2026-01-01,50,0.00,,\n',
    )
    const args = ['--map', file('paid.json', maps[0]?.text ?? ''), file('patients.csv', PATIENTS), path]
    const { code, printed } = await tool('import', '--yes', '--json', ...args)
    const [, invoices, payments] = JSON.parse(printed).data.files
    expect([code, maps.length, invoices, payments]).toMatchObject([
      1,
      1,
      { entity: 'invoices', imported: 3, rejected: 0 },
      { entity: 'payments', imported: 1, rejected: 2, rows: { read: 3, records: 1, rejected: 2 } },
    ])
    expect(payments.corrections).toEqual([path.replace('.csv', '.payments.rejected.csv')])
    const { items } = await invoiceStore(db).page(clinic.id, {}, { page: 1, limit: 3 })
    expect(items.map(({ number, status, paidAt }) => [number, status, paidAt]).sort()).toEqual([
      ['R-1', 'paid', '2026-01-02T21:00:00.000Z'],
      ['R-2', 'sent', null],
      ['R-3', 'sent', null],
    ])
  })
  it('rejects files that do not exist, or whose names do not tell their entity', async () => {
    for (const [args, message] of [
      [['nowhere/patients.csv'], 'nowhere/patients.csv does not exist'],
      [['package.json'], 'package.json: the name must end in .csv, .tsv, .txt, .ndjson or .jsonl'],
      [['--entity', 'horses', 'patients.csv'], 'patients.csv does not exist'],
    ] as const) {
      expect(await rejection(tool('import', '--yes', ...args))).toContain(message)
    }
    const path = file('people.csv', 'external_id,first_name,last_name\np1,Jo,Jung\n')
    expect(await rejection(tool('import', '--yes', path))).toContain(
      'cannot tell the entity from the file name: rename the file, or use --entity. Valid entities are departments, doctors, holidays, rooms',
    )
    expect((await tool('import', '--yes', '--entity', 'patients', path)).code).toBe(0)
  })

  it('warns of invoices that are paid by their file once all files are in', async () => {
    const patients = file('patients.csv', PATIENTS)
    const args = [patients, file('payments.csv', PAYMENTS), file('invoices.csv', INVOICES)]
    const { printed } = await tool('import', '--yes', ...args)
    expect(printed).toContain('warning: 1 invoice with the status paid has no payments (invoices.csv:3)')
    expect(printed).toContain(
      `${patients}: patients: 2 imported, 0 updated, 0 unchanged, 2 rejected, 1 warning (see`,
    )
    const again = JSON.parse((await tool('import', '--yes', '--json', ...args)).printed).data
    expect(again).toMatchObject({ imported: 0, unchanged: 6, rejected: 2, paid_without_payments: 1 })
  })

  it('counts appointments to come outside working hours, and says where they are listed', async () => {
    const paths = [
      file('patients.csv', PATIENTS),
      file('doctors.csv', 'external_id,full_name,hours\nD,Dr. Eva Noll,mon-fri 09:00-17:00\n'),
      file(
        'appointments.csv',
        'external_id,patient_external_id,doctor_external_id,appointment_date,start_time,end_time\n' +
          '1,TR-1,D,2099-05-04,10:00,10:30\n2,TR-1,D,2099-05-05,18:00,18:30\n3,TR-4,D,2099-05-04,18:00,18:30\n',
      ),
    ]
    const list = `appointment list --clinic ${clinic.id} --outside-hours true`
    const text = `warning: 2 appointments to come are outside working hours. Imported appointments are listed by "${list}", with --date-from`
    expect((await tool('import', '--yes', '--check', ...paths)).printed).toContain(text)
    const { printed } = await tool('import', '--yes', ...paths)
    expect(printed).toContain(text)
    expect(printed).toContain("warning: 2 x start_time or end_time is outside the doctor's working")
    expect(JSON.parse((await tool('import', '--yes', '--json', ...paths)).printed).data).toMatchObject({
      appointments_outside: 0,
    })
  })

  it('rejects a row with the id of a row of an earlier file of the run, in another run it changes the record', async () => {
    const head = 'external_id,first_name,last_name\n'
    const paths = [
      file('a-patients.csv', `${head}1,Ayla,Kaya\n`),
      file('b-patients.csv', `${head}1,Ayla,Demir\n`),
    ]
    const { code, printed } = await tool('import', '--yes', '--entity', 'patients', ...paths)
    expect([code, printed]).toEqual([
      1,
      expect.stringContaining('external_id is already used on an earlier line of a-patients.csv (line 2)'),
    ])
    expect((await tool('import', '--yes', '--entity', 'patients', ...paths.slice(1))).code).toBe(0)
  })

  it('names what is wrong with the headers and encodings of all files in one run, and writes nothing', async () => {
    const paths = [
      file('departments.csv', 'external_id,name\n1,Surgery\n'),
      file('patients-wrong.csv', 'external_id,first_name,surname\n1,Ayla,Kaya\n'),
      file('appointments-empty.ndjson', '\n'),
      file('invoices-wrong.csv', 'external_id;patient_external_id;number\n1;TR-1;R-1\n'),
      file('payments-none.csv', `${PAYMENTS.split('\n')[0]}\n\n`),
    ]
    for (const check of [[], ['--check']]) {
      const { code, errors, printed } = await tool('import', '--yes', ...check, ...paths)
      expect([code, printed, errors.trim().split('\n')]).toEqual([
        ...[2, ''],
        [
          expect.stringMatching(
            /patients-wrong\.csv:1: column "surname" is neither read nor ignored.*"last_name" is missing; valid/,
          ),
          `${paths[2]}: the file has no rows`,
          expect.stringMatching(
            /invoices-wrong\.csv:1: column "number" is neither read nor ignored.*"invoice_number" is missing/,
          ),
          `${paths[4]}: the file has no rows`,
        ],
      ])
    }
    expect(await departmentStore(db).list(clinic.id)).toEqual([])
  })

  it('reads a file by a map, and by --encoding instead of the map’s encoding', async () => {
    const path = file('patients.csv', 'Hasta No;Adı;Soyadı;Cep\n1;Şükrü;Işık;0532 123 45 67\n')
    expect(await rejection(tool('import', '--yes', '--map', 'turkish', path))).toContain('"SoyadÄ±"')
    expect((await tool('import', '--yes', '--map', 'turkish', '--encoding', 'utf-8', path)).code).toBe(0)
    const { items } = await patientStore(db).page(clinic.id, { page: 1, limit: 1 })
    expect(items).toMatchObject([{ firstName: 'Şükrü', lastName: 'Işık', phoneNumber: '+905321234567' }])
  })

  it.each([
    ['csv', 'external_id,Reason,first_name,last_name\n1,Back pain,,\n'],
    ['ndjson', '{"external_id":1,"first_name":"","last_name":"","Reason":"Back pain"}\n'],
  ])('keeps a column Reason that a map reads in the rejected rows of .%s', async (extension, content) => {
    const columns = { notes: ['Reason'] }
    const map = file('reason-map.json', JSON.stringify({ entities: { patients: { columns } } }))
    const rejected = join(folder, `patients-reason.rejected.${extension}`)
    await tool('import', '--yes', '--map', map, file(`patients-reason.${extension}`, content))
    const first = readFileSync(rejected, 'utf8')
    expect(first).toContain('rejected_because')
    // Rejected again.
    await tool('import', '--yes', '--map', map, file(`patients-reason.${extension}`, first))
    expect(readFileSync(rejected, 'utf8')).toBe(first)
    const corrected = first
      .replace('pain,,', 'pain,Ada,Kaya')
      .replace('"first_name":"","last_name":""', '"first_name":"Ada","last_name":"Kaya"')
    expect(
      (await tool('import', '--yes', '--map', map, file(`patients-corrected.${extension}`, corrected))).code,
    ).toBe(0)
    const id = (await readImportIds(db.table, clinic.id))('patient', '1')
    expect(await patientStore(db).find(clinic.id, id)).toMatchObject({ lastName: 'Kaya', notes: 'Back pain' })
  })

  it('stops at Ctrl-C, says how many rows are in, leaves no file of rejected rows, and continues when it is run again', async () => {
    const rows = Array.from({ length: 300 }, (_, n) => `${n},First,Last,${n === 3 ? 'none' : ''}\n`).join('')
    const path = file('patients-many.csv', `external_id,first_name,last_name,phone_number\n${rows}`)
    const others = process.listeners('SIGINT')
    process.removeAllListeners('SIGINT')
    let isAsked = false
    const agree = async () => {
      isAsked = true
      return 'yes'
    }
    const running = runAsked(agree, 'import', '--clinic', clinic.id, path)
    const isWriting = () => isAsked && process.listenerCount('SIGINT') === 1
    await vi.waitFor(() => expect(isWriting()).toBe(true), { timeout: 30_000, interval: 1 })
    process.emit('SIGINT')
    const { code, errors } = await running
    expect(process.listenerCount('SIGINT')).toBe(0)
    for (const listener of others) process.on('SIGINT', listener)
    expect(code).toBe(130)
    expect(errors).toContain(
      `${path}: stopped after 97 rows: 96 imported, 0 updated, 0 unchanged, 1 rejected. Run it again to continue.\nInterrupted.\n`,
    )
    expect(await total()).toBe(96)
    const rejected = join(folder, 'patients-many.rejected.csv')
    expect(readdirSync(folder).filter((name) => name.startsWith(basename(rejected)))).toEqual([])
    const again = JSON.parse((await tool('import', '--yes', '--json', path)).printed).data
    expect(again).toMatchObject({ imported: 203, unchanged: 96, rejected: 1 })
    expect(readFileSync(rejected, 'utf8')).toContain('3,First,Last,none,"phone_number must')
  })
})

it('import --draft writes a map with each column once, which is rejected until each is decided, and its schema', async () => {
  const files = [
    file('Kartei.csv', 'Nr;Name;Notes;Name\n1;Jo;x;y\n'),
    file('appointments-a.ndjson', '{"a":1}\n{"b":2,"a":1}\n'),
    file('appointments-b.csv', 'b,c\n1,2\n'),
  ]
  const path = join(folder, 'draft.json')
  const { code, printed } = await run('import', '--draft', '--map', path, ...files)
  expect([code, printed]).toEqual([
    0,
    expect.stringContaining('Replace "Kartei" by an entity: one of departments,'),
  ])
  const draft = JSON.parse(readFileSync(path, 'utf8'))
  expect(draft).toEqual({
    $schema: './map.schema.json',
    entities: {
      Kartei: { file: 'Kartei', columns: {}, ignore: [], undecided: ['Nr', 'Name', 'Notes'] },
      appointments: { columns: {}, ignore: [], undecided: ['a', 'b', 'c'] },
    },
  })
  const schema = JSON.parse(readFileSync(join(folder, 'map.schema.json'), 'utf8'))
  expect(Object.keys(schema.properties.entities.properties)).toContain('line-items')
  expect((await run('import', '--draft', '--map', path, ...files)).errors).toContain('exists already')
  const { Kartei: patients } = draft.entities
  writeFileSync(path, JSON.stringify({ entities: { patients } }))
  expect(await rejection(tool('import', '--map', path, ...files))).toContain(
    'draft.json: entities.patients.undecided must be empty: move each column to "columns", for its field, or to "ignore"',
  )
})

describe('ids', () => {
  const derived = async (externalId: string) =>
    (await readImportIds(db.table, clinic.id))('patient', externalId)

  it('lists the external ids of imported records with their ids, and none of them in the access trail', async () => {
    await tool('import', '--yes', file('patients.csv', PATIENTS), file('invoices.csv', INVOICES))
    const { code, printed, lines } = await tool('ids', '--entity', 'patients')
    expect(code).toBe(0)
    expect(printed.trim().split('\n').sort()).toEqual(
      [
        `patients,TR-1,${await derived('TR-1')}`,
        `patients,TR-4,${await derived('TR-4')}`,
        'entity,external_id,id',
      ].sort(),
    )
    expect(lines.map(({ command, outcome }) => [command, outcome])).toEqual([
      ['ids', 'started'],
      ['ids', 'done'],
    ])
    expect(JSON.stringify(lines)).not.toContain('TR-1')
    const { data } = JSON.parse((await tool('ids', '--json')).printed)
    expect(data.map(({ entity }: { entity: string }) => entity)).toEqual([
      'patients',
      'patients',
      'invoices',
      'invoices',
      'invoices',
    ])
  })

  it('lists those of a file that was not imported yet, in its order', async () => {
    const path = file('patients.csv', 'Pat.-Nr.;Vorname;Name\n9;Jo\n"8, a";Al;Roe\n8;Di;Poe\n')
    expect((await tool('ids', '--map', 'german', path)).printed.trim().split('\n')).toEqual([
      'entity,external_id,id',
      `patients,"8, a",${await derived('8, a')}`,
      `patients,8,${await derived('8')}`,
    ])
  })

  it('fails for a clinic without imported records, and for an unknown entity', async () => {
    expect(await rejection(tool('ids'))).toBe('The clinic has no imported records.\n')
    const unknown = await tool('ids', '--entity', 'horses')
    expect([unknown.code, unknown.errors]).toEqual([
      2,
      expect.stringContaining('--entity: unknown entity horses. Valid'),
    ])
  })
})

it('announces the records of an import as those of an import, and other changes as the operator’s', async () => {
  const path = file('departments.csv', 'external_id,name\nD-1,Surgery\n')
  expect((await tool('import', '--yes', '--events', path)).code).toBe(0)
  expect(
    (await run('clinic', 'update', '--clinic', clinic.id, '--website', 'https://x.org', '--yes')).code,
  ).toBe(0)
  const range = { pk: announcedPartition(clinic.id), ...announcedRange(clinic.id), limit: 9 }
  const found = (await db.table.query(range)).map(({ e, s }) => [e, s])
  expect(found.sort()).toEqual([
    ['clinic.updated', 'import'],
    ['clinic.updated', 'operator'],
    ['import.completed', 'import'],
  ])
})
