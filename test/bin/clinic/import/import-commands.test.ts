/** The commands that import files and list their ids: what they print, write and reject. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { departmentStore } from '../../../../shared/store/catalogue.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { deployedTable, rejection } from '../../../support/deployed-stack.ts'
import { newClinic } from '../../../support/table.ts'

const { db, run } = deployedTable()
let clinic: Clinic
const folder = mkdtempSync(join(tmpdir(), 'import-commands-test-'))

beforeEach(async () => {
  clinic = await newClinic(db.table)
})
afterAll(() => rmSync(folder, { recursive: true }))

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
        'patients.csv: 4 rows of patients, utf-8, columns separated by ,',
        '  would be 2 imported, 0 updated, 0 unchanged, 2 rejected, 1 warning',
        '  rejected: 2 x phone_number needs its country code: +49 171 1234567, not 0171... or 0049... (lines 3 and 4)',
        '  warning: 1 x last_name looks doubly encoded, as Ã¼ for ü (line 5)',
        'invoices.csv: 3 rows of invoices, utf-8, columns separated by ,',
        '  would be 3 imported, 0 updated, 0 unchanged, 0 rejected, 1 warning',
        '  warning: 1 x due_date is more than a year ahead (line 3)',
        'payments.csv: 1 rows of payments, utf-8, columns separated by ,',
        '  would be 1 imported, 0 updated, 0 unchanged, 0 rejected',
        'warning: 1 invoice with the status paid has no payments (invoices.csv:3): import the payments, too',
        'Nothing was written.',
        '',
      ],
    ])
    expect(`${printed}${errors}${JSON.stringify(lines)}`).not.toMatch(/Ayla|Kaya|Demir|TR-|elik|0532|\/tmp/)
    expect(await total()).toBe(0)
  })

  it('leaves the file of rejected rows, which is being corrected, and makes none', async () => {
    const paths = [
      file('patients.csv', PATIENTS),
      file('patients-valid.csv', PATIENTS.replaceAll('0532', '+90532')),
    ]
    const rejected = ['patients', 'patients-valid'].map((name) => join(folder, `${name}.rejected.csv`))
    for (const path of rejected) writeFileSync(path, 'corrected')
    await tool('import', '--yes', '--check', ...paths)
    expect(rejected.map((path) => readFileSync(path, 'utf8'))).toEqual(['corrected', 'corrected'])
    for (const path of rejected) rmSync(path)
    await tool('import', '--yes', '--check', ...paths)
    expect(rejected.filter(existsSync)).toEqual([])
  })

  it('prints the same as JSON', async () => {
    const { code, printed } = await tool(
      'import',
      '--yes',
      '--check',
      '--json',
      file('patients.csv', PATIENTS),
    )
    expect([code, JSON.parse(printed).data]).toEqual([
      1,
      {
        imported: 2,
        updated: 0,
        unchanged: 0,
        rejected: 2,
        warnings: 1,
        check: true,
        paid_without_payments: 0,
        line_items_without_invoice: 0,
        appointments_outside: 0,
        files: [
          {
            file: 'patients.csv',
            entity: 'patients',
            rows: 4,
            encoding: 'utf-8',
            delimiter: ',',
            imported: 2,
            updated: 0,
            unchanged: 0,
            rejected: 2,
            warnings: 1,
            left_out: 0,
            appointments_outside: 0,
            reasons: [{ text: expect.stringContaining('needs its country code'), count: 2, lines: [3, 4] }],
            warned: [{ text: expect.stringContaining('looks doubly encoded'), count: 1, lines: [5] }],
          },
        ],
      },
    ])
  })
})

describe('import', () => {
  it('imports valid rows, writes rejected rows with line and reason to a file, and exits with code 1', async () => {
    const path = file(
      'patients-some.csv',
      'external_id,first_name,last_name,phone_number\n1,Ada,Lang,+4915112345678\n2,,,\n3,Cy,Moor,030 1234\n',
    )
    const { code, printed, errors } = await tool('import', '--yes', '--json', path)
    expect([code, JSON.parse(printed).data]).toMatchObject([
      1,
      { imported: 1, updated: 0, unchanged: 0, rejected: 2 },
    ])
    expect(errors).toContain(`${path}:3: first_name is required`)
    expect(readFileSync(path.replace('.csv', '.rejected.csv'), 'utf8').trim().split('\n')).toEqual([
      'external_id,first_name,last_name,phone_number,reason',
      '2,,,,first_name is required',
      '3,Cy,Moor,030 1234,"phone_number needs its country code: +49 171 1234567, not 0171... or 0049..."',
    ])
    expect(await total()).toBe(1)
    const again = await tool('import', '--yes', '--json', path)
    expect(JSON.parse(again.printed).data).toMatchObject({ imported: 0, unchanged: 1, rejected: 2 })
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
    const { printed, errors } = await tool('import', '--yes', ...args)
    expect(printed).toContain('warning: 1 invoice with the status paid has no payments (invoices.csv:3)')
    expect(errors).toContain(`${patients}:5: warning: last_name looks doubly encoded`)
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
    const list = `appointment list --clinic ${clinic.id} --outside`
    const text = `warning: 2 appointments to come are outside working hours. Imported appointments are listed by "${list}"`
    expect((await tool('import', '--yes', '--check', ...paths)).printed).toContain(text)
    const { printed, errors } = await tool('import', '--yes', ...paths)
    expect(printed).toContain(text)
    expect(errors).toContain(`${paths[2]}:3: warning: start_time or end_time is outside the doctor's working`)
    expect(JSON.parse((await tool('import', '--yes', '--json', ...paths)).printed).data).toMatchObject({
      appointments_outside: 0,
    })
    const { printed: listed } = await run(...list.split(' '))
    expect(listed.split('\n').map((line) => line.slice(line.indexOf('  ')))).toEqual([
      '  2099-05-04  18:00-18:30  scheduled  Ece Ã‡elik  Dr. Eva Noll',
      '  2099-05-05  18:00-18:30  scheduled  Ayla Kaya   Dr. Eva Noll',
      expect.stringContaining('.'),
      '',
    ])
    expect(listed).toContain('\nTimes are in Europe/Istanbul. 2 scheduled appointments.\n')
    expect(JSON.parse((await run('--json', ...list.split(' '))).printed).data).toHaveLength(2)
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
            /patients-wrong\.csv:1: unknown column "surname".*"last_name" is missing; valid/,
          ),
          `${paths[2]}: the file is empty`,
          expect.stringMatching(
            /invoices-wrong\.csv:1: unknown column "number".*"invoice_number" is missing/,
          ),
          `${paths[4]}: the file has no rows`,
        ],
      ])
    }
    expect(await departmentStore(db).list(clinic.id)).toEqual([])
  })

  it('reads a file by a map, and by --encoding instead of the map’s encoding', async () => {
    const path = file('patients.csv', 'Hasta No;Adı;Soyadı;Cep\n1;Şükrü;Işık;0532 123 45 67\n')
    expect(await rejection(tool('import', '--yes', '--map', 'turkish', path))).toBe(
      `${path}: the file is not windows-1254; it looks like UTF-8. Add --encoding utf-8, or save the file as UTF-8.\n`,
    )
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
    const running = tool('import', '--yes', path)
    await vi.waitFor(() => expect(process.listenerCount('SIGINT')).toBe(1))
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
    const path = file('patients.csv', 'Pat.-Nr.;Vorname;Name\n9;"J"o;Doe\n"8, a";Al;Roe\n8;Di;Poe\n')
    expect((await tool('ids', '--map', 'german', path)).printed.trim().split('\n')).toEqual([
      'entity,external_id,id',
      `patients,"8, a",${await derived('8, a')}`,
      `patients,8,${await derived('8')}`,
    ])
  })

  it('lists those of every entity that the map reads from the file', async () => {
    const columns = { external_id: 'Arzt', full_name: 'Arzt' }
    const map = file(
      'visits-map.json',
      JSON.stringify({
        entities: {
          doctors: { file: 'Termine', group: true, columns, ignore: 'others' },
          patients: { file: 'Termine', columns: { external_id: 'Pat' }, ignore: 'others' },
        },
      }),
    )
    const path = file('Termine.csv', 'Arzt;Pat;first_name;last_name\nEva;1;Jo;Doe\nEva;2;Al;Roe\n')
    const { printed } = await tool('ids', '--map', map, path)
    expect(printed.split('\n').map((line) => line.replace(/,[^,]*$/, ''))).toEqual([
      'entity,external_id',
      'doctors,Eva',
      'patients,1',
      'patients,2',
      '',
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
