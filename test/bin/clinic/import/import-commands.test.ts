/** The commands that import files and list their ids: what they print, write and reject. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { departmentStore } from '../../../../shared/store/catalogue.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { announcedPartition, announcedRange } from '../../../../shared/store/keys/events.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import type { Counts } from '../../../../shared/sync/outcomes/batch-outcomes.ts'
import { deployedTable, rejection } from '../../../support/deployed-stack.ts'
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
        ...[
          ['payments', 1, PAYMENTS],
          ['invoices', 3, INVOICES],
          ['patients', 4, PATIENTS],
        ].flatMap(([name, count, content]) => [
          `${name}.csv, utf-8, columns separated by ,`,
          `  ${count} rows read`,
          `  read: ${String(content).split('\n', 1)[0]?.replace(/\w+/g, '"$&"').replaceAll(',', ', ')}`,
        ]),
        'patients.csv: patients',
        '  rows: 2 become records, 2 rejected',
        '  records: 2 imported, 0 updated, 0 unchanged, 2 rejected, 1 warning',
        '  rejected: 2 x phone_number needs its country code: +49 171 1234567, not 0171... or 0049... (lines 3 and 4)',
        '  warning: 1 x last_name looks doubly encoded, as Ã¼ for ü (line 5)',
        'invoices.csv: invoices',
        '  rows: 3 become records, 0 rejected',
        '  records: 3 imported, 0 updated, 0 unchanged, 0 rejected, 1 warning',
        '  sum of subtotal: 150.00, 0.00 in rejected rows',
        '  warning: 1 x due_date is more than a year ahead (line 3)',
        'payments.csv: payments',
        '  rows: 1 become records, 0 rejected',
        '  records: 1 imported, 0 updated, 0 unchanged, 0 rejected',
        '  sum of amount: 50.00, 0.00 in rejected rows',
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
})

describe('import', () => {
  it('prints the reconciliation and asks, and writes nothing without a yes', async () => {
    const path = file('patients.csv', PATIENTS)
    const questions: string[] = []
    const answer = (text: string) => async (question: string) => {
      questions.push(question)
      return text
    }
    const reconciliation = '  rows: 2 become records, 2 rejected'
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

  it('replaces no file of rejected rows of an earlier run, unless it has the same rows', async () => {
    const repeated = `${PATIENTS}TR-1,Ayla,Ay,\n`
    const path = file('patients.csv', repeated)
    const rejected = join(folder, 'patients.rejected.csv')
    for (const _ of ['first', 'again']) expect((await tool('import', '--yes', path)).code).toBe(1)
    const corrected = readFileSync(rejected, 'utf8').replace('0532 1', '')
    writeFileSync(rejected, corrected)
    const refusal = `${rejected} has rows of an earlier run: import it if they are corrected, and delete it\n`
    for (const args of [[path], ['--check', path], [path, rejected]])
      expect(await rejection(tool('import', '--yes', ...args))).toBe(refusal)
    expect([readFileSync(rejected, 'utf8'), await total()]).toEqual([corrected, 2])
    expect((await tool('import', '--yes', rejected)).printed).toContain('1 imported')
    rmSync(rejected)
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
    rmSync(join(folder, 'b-patients.rejected.csv'))
    expect((await tool('import', '--yes', '--entity', 'patients', ...paths.slice(1))).code).toBe(0)
  })

  it('rejects rows whose patient id two people have, in the files or in a file and the clinic, and keeps others', async () => {
    const head = 'external_id,first_name,last_name,date_of_birth\n'
    const known = file('a-patients.csv', `${head}3,Ayla,Kaya,1980-01-02\n`)
    expect((await tool('import', '--yes', '--entity', 'patients', known)).code).toBe(0)
    const rows = '1,Ada,Ay,1980-01-02\n1,Ida,Holm,1971-03-04\n2,Jo,Roe,\n3,Eva,Noll,1971-03-05\n'
    const invoices = [1, 2, 3].map((n) => `${n},${n},R-${n},2026-05-04,10\n`).join('')
    const paths = [
      file('patients.csv', head + rows),
      file('invoices.csv', `external_id,patient_external_id,invoice_number,issue_date,subtotal\n${invoices}`),
    ]
    for (const check of [['--check'], []])
      expect((await tool('import', '--yes', ...check, ...paths)).printed).toMatch(
        /1 imported, .* 2 rejected\n.*\n {2}rejected: 2 x patient_external_id is the id of different people/,
      )
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
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never)
    // A second one does not wait for the transaction.
    process.emit('SIGINT')
    expect(exit).toHaveBeenCalledWith(130)
    exit.mockRestore()
    const { code, errors } = await running
    expect(process.listenerCount('SIGINT')).toBe(0)
    for (const listener of others) process.on('SIGINT', listener)
    expect(code).toBe(130)
    expect(errors).toContain(`${path}: stopped after at least 0 rows. Run it again to continue.\n`)
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

const CONVERTER_MODULE = resolve('bin/clinic/import/converters/converter.ts')

describe('import --with', () => {
  const kartei = (more = '') =>
    file(
      'move.ts',
      `import { converter, Problem } from '${CONVERTER_MODULE}'

export default converter({
  Kartei: (row) => {
    const date = row.date('Reason', 'd.M.yyyy', { empty: ['-'] })
    const paid = row.amount('Bezahlt', ',', 'EUR')
    const [first_name, last_name] = (row.text('Name') ?? '').split(' ')
    ${more}
    if (date === null) return null
    return {
      patients: { external_id: row.text('Nr'), first_name: first_name ?? null, last_name: last_name ?? null },
      invoices: {
        ...row.texts({ external_id: 'Nr', invoice_number: 'Nr', patient_external_id: 'Nr' }),
        issue_date: date,
        subtotal: row.amount('Betrag', ',', 'EUR'),
      },
      payments: paid && [
        {
          ...row.texts({ external_id: 'Nr', invoice_external_id: 'Nr' }),
          amount: paid,
          payment_method: 'cash',
          payment_date: date,
        },
      ],
    }
  },
})
`,
    )
  const HEADER = 'Nr;Name;Reason;Betrag;Bezahlt\n'
  const ROWS = `${HEADER}1;Ada Ay;2.1.2026;50,00;50,00 €\n2;Bo Be;3.1.2026;20,00;\n3;Cy Ce;30.2.2026;1,00;\n4;;4.1.2026;9,00;9,00\n5;Di De;-;;\n`

  it('imports several records of a row, writes each rejected row once, and takes it once it is corrected', async () => {
    const with_ = ['--with', kartei()]
    const path = file('Kartei 2026.csv', ROWS)
    const { code, printed } = await tool('import', '--yes', '--json', ...with_, path)
    const { data } = JSON.parse(printed)
    expect([code, data.conversions]).toEqual([
      1,
      [
        {
          file: path,
          rows: { read: 5, without_records: 1 },
          encoding: 'utf-8',
          delimiter: ';',
          columns: ['Nr', 'Name', 'Reason', 'Betrag', 'Bezahlt'].map((column) => ({
            column,
            is_ignored: false,
            cells: column === 'Reason' ? { 'as empty': 1 } : {},
          })),
        },
      ],
    ])
    const counts = ({ entity, imported, rejected }: Record<string, unknown>) =>
      `${entity} ${imported} ${rejected}`
    expect(data.files.map(counts)).toEqual(['patients 2 2', 'invoices 2 1', 'payments 1 1'])
    const rejected = join(folder, 'Kartei 2026.rejected.csv')
    const text = readFileSync(rejected, 'utf8')
    expect(text.split('\n').map((line) => line.split(';', 2).join(';'))).toEqual([
      '\uFEFFNr;Name',
      '3;Cy Ce',
      '4;',
      '',
    ])
    expect(text).toContain('rejected_because')
    writeFileSync(rejected, text.replace('30.2.', '28.2.').replace('4;;', '4;Ed Em;'))
    const again = JSON.parse((await tool('import', '--yes', '--json', ...with_, rejected)).printed).data
    expect(again).toMatchObject({ imported: 5, rejected: 0 })
    expect(await total()).toBe(4)
  })

  it('prints how files were converted, and names what is wrong with all of them', async () => {
    const path = file('Kartei.csv', ROWS)
    const { printed } = await tool('import', '--check', '--with', kartei(), path)
    expect(printed.split('\n').slice(0, 4)).toEqual([
      'Kartei.csv, utf-8, columns separated by ;',
      '  5 rows read, 1 without records (line 6)',
      '  read: "Nr", "Name", "Reason", "Betrag", "Bezahlt"',
      '  column "Reason": 1 as empty',
    ])
    const others = [file('Termine.csv', 'a\n1\n'), file('Kartei-2.csv', ROWS.replace('Betrag', 'Summe'))]
    const { code, errors } = await tool('import', '--check', '--with', kartei(), path, ...others)
    expect([code, errors.replaceAll(`${folder}/`, '').trim().split('\n')]).toEqual([
      2,
      [
        'Termine.csv: no function of move.ts takes the file: its names are "Kartei"',
        expect.stringMatching(/^Kartei-2\.csv:2: move\.ts:\d+: the file has no column "Betrag"$/),
      ],
    ])
  })

  it('imports nothing if the converter was changed before the answer, and converts once', async () => {
    const path = file('Kartei.csv', `${HEADER}1;Ada Ay;2.1.2026;50,00;\n`)
    const module = kartei()
    const change = async () => {
      writeFileSync(module, readFileSync(module, 'utf8').replace('cash', 'card'))
      return 'yes'
    }
    const args = ['import', '--clinic', clinic.id, '--with', module, path]
    expect(await rejection(runAsked(change, ...args))).toContain(`${module} was changed since it was read.`)
    expect(await total()).toBe(0)
    const counted = kartei(
      "if (globalThis.process.env.CONVERTED) throw new Problem('again')\n process.env.CONVERTED = '1'",
    )
    expect((await tool('import', '--yes', '--with', counted, path)).code).toBe(0)
    delete process.env.CONVERTED
  })

  it('says what is wrong with a module that is no converter', async () => {
    const path = file('Kartei.csv', ROWS)
    const without = join(folder, 'none.ts')
    expect(await rejection(tool('import', '--check', '--with', without, path))).toBe(
      `${without}: there is no such file\n`,
    )
    const wrong = file('wrong.ts', 'export const converter = 1\n')
    expect(await rejection(tool('import', '--check', '--with', wrong, path))).toBe(
      `${wrong}: must have a default export: export default converter({ ... })\n`,
    )
  })
})

it('import --draft writes a converter that compiles once its fields are filled, wherever it is moved, with shapes of cells and no value', async () => {
  const files = [
    file('Kartei.csv', 'Nr;first name;Geboren\n17;Jo;1.2.1974\n18;Al;11.12.1980\n19;;12.12.1981\n'),
    file('appointments.ndjson', '{"a":"x-1"}\n{"b":2}\n'),
  ]
  const { code, printed } = await run('import', '--draft', ...files)
  const path = join(folder, 'move.ts')
  expect([code, printed]).toEqual([0, expect.stringContaining(`check it with "npx tsc --project ${folder}"`)])
  const draft = readFileSync(path, 'utf8')
  expect(draft.slice(draft.indexOf('export'))).toBe(`export default converter({
  "Kartei": (row) => {
    // "Nr"  99
    // "first name"  Aa
    // "Geboren"  99.99.9999  9.9.9999
    row.ignore()
    return {
      "patients": {
        external_id: undefined,
        first_name: undefined,
        last_name: undefined,
      },
    }
  },
  "appointments": (row) => {
    // "a"  a-9
    // "b"  9
    row.ignore()
    return {
      "appointments": {
        external_id: undefined,
        patient_external_id: undefined,
        doctor_external_id: undefined,
        appointment_date: undefined,
        start_time: undefined,
        end_time: undefined,
      },
    }
  },
})
`)
  // `npm start` installs no dependencies of development.
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['typescript', '@types/node']))
  const compiled = (project: string) =>
    spawnSync('node_modules/.bin/tsc', ['--project', project], { encoding: 'utf8' })
  expect(compiled(folder).stdout).toContain("'undefined' is not assignable to type 'string | number | null'")
  expect((await run('import', '--draft', ...files)).errors).toContain('exists already')
  const moved = join(folder, 'moved', 'to')
  mkdirSync(moved, { recursive: true })
  writeFileSync(join(moved, 'move.ts'), draft.replace(/undefined/g, "row.text('Nr')"))
  renameSync(join(folder, 'tsconfig.json'), join(moved, 'tsconfig.json'))
  expect(compiled(moved)).toMatchObject({ status: 0, stdout: '' })
}, 120_000)

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
    const entities = data.map(({ entity }: { entity: string }) => entity)
    expect(entities.join(' ')).toBe('patients patients invoices invoices invoices')
  })

  it('lists those of a file that was not imported yet, in its order', async () => {
    const path = file('Kartei.csv', 'Nr;Vorname\n9\n"8, a";Al\n8;Di\n')
    const module = file(
      'ids.ts',
      `import { converter } from '${CONVERTER_MODULE}'
export default converter({
  Kartei: (row) => ({ patients: { ...row.texts({ external_id: 'Nr', first_name: 'Vorname' }) } }),
})
`,
    )
    expect((await tool('ids', '--with', module, path)).printed.trim().split('\n')).toEqual([
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
  for (const _ of ['first', 'again']) expect((await tool('import', '--yes', '--events', path)).code).toBe(0)
  expect(
    (await run('clinic', 'update', '--clinic', clinic.id, '--website', 'https://x.org', '--yes')).code,
  ).toBe(0)
  const range = { pk: announcedPartition(clinic.id), ...announcedRange(clinic.id), limit: 9 }
  const found = (await db.table.query(range)).map(({ e, s, d }) => `${e}, ${s}, ${(d as Counts).imported}`)
  expect(found.sort()).toEqual([
    'clinic.updated, import, undefined',
    'clinic.updated, operator, undefined',
    'import.completed, import, 0',
    'import.completed, import, 1',
  ])
})
