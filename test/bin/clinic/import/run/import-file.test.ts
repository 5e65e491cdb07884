import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { importEntities } from '../../../../../bin/clinic/import/entities/entities.ts'
import type { ImportableEntity } from '../../../../../bin/clinic/import/entities/entity.ts'
import { rejectedFile } from '../../../../../bin/clinic/import/files/rejections.ts'
import { importFile } from '../../../../../bin/clinic/import/run/import-file.ts'
import type { Doctor } from '../../../../../shared/domain/booking/doctor.ts'
import type { Clinic } from '../../../../../shared/domain/clinic.ts'
import type { Patient } from '../../../../../shared/domain/patients/patient.ts'
import { doctorStore } from '../../../../../shared/store/doctors.ts'
import { patientStore } from '../../../../../shared/store/patients/patients.ts'
import { patientSearch } from '../../../../../shared/store/patients/search.ts'
import { UnavailableError } from '../../../../../shared/store/table/errors.ts'
import { importRecords } from '../../../../support/imports.ts'
import { NOW, newClinic, tableOfFile } from '../../../../support/table.ts'

const db = tableOfFile()
let clinic: Clinic
const folder = mkdtempSync(join(tmpdir(), 'import-test-'))

beforeEach(async () => {
  clinic = await newClinic(db.table)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Imports a file of this name and content. Returns the counts, and the rejected rows as `line: reason`. */
async function imported(name: string, content: string | Buffer) {
  const file = join(folder, name)
  writeFileSync(file, content)
  return importRecords(db.table, clinic, name.split(/[-.]/)[0] ?? '', file)
}

const patients = async (): Promise<Patient[]> =>
  (await patientStore(db).page(clinic.id, { page: 1, limit: 100 })).items

const HEADER = 'external_id,first_name,last_name,phone_number,email_address,date_of_birth,gender\n'

describe('importing patients from CSV', () => {
  it('creates them in file order, so that the last row is listed first', async () => {
    const rows = Array.from({ length: 130 }, (_, n) => `${n},First${n},Last${n},,,,\n`).join('')
    expect(await imported('patients.csv', HEADER + rows)).toMatchObject({ imported: 130, rejected: 0 })
    expect((await patients()).map(({ firstName }) => firstName).slice(0, 3)).toEqual([
      'First129',
      'First128',
      'First127',
    ])
  })

  it('changes nothing when the file is imported again, and updates only rows that changed', async () => {
    const file = `${HEADER}1,Ayşe,Yılmaz,+905321234567,a@x.org,1980-02-29,female\n2,Jo,Doe,,,,\n`
    await imported('patients.csv', file)
    const before = await patients()
    expect(await imported('patients.csv', file)).toMatchObject({ imported: 0, updated: 0, unchanged: 2 })
    expect(await patients()).toEqual(before)
    const changed = file.replace('Doe', 'Smith')
    expect(await imported('patients.csv', changed)).toMatchObject({ imported: 0, updated: 1, unchanged: 1 })
    expect((await patients()).map(({ lastName }) => lastName)).toEqual(['Smith', 'Yılmaz'])
    expect((await patientSearch(db).search(clinic.id, 'smith', { page: 1, limit: 5 })).total).toBe(1)
  })

  it('keeps a field whose column is missing, and clears one that is empty', async () => {
    await imported('patients.csv', `${HEADER}1,Jo,Doe,+905321234567,jo@x.org,,\n`)
    await imported('patients.csv', 'external_id,first_name,last_name,email_address\n1,Jo,Doe,\n')
    expect(await patients()).toMatchObject([{ phoneNumber: '+905321234567', emailAddress: null }])
  })

  it('reads BOM, CRLF, semicolons, line breaks in quotes, and a last line without a line ending', async () => {
    const file = '\uFEFFexternal_id;first_name;last_name\r\n1;"Anna;Lena";"O\'Neill"\r\n2;Jo;"Mc ""Mac"" Doe"'
    expect(await imported('patients.csv', file)).toMatchObject({ imported: 2, rejections: [] })
    expect((await patients()).map(({ firstName, lastName }) => `${firstName}|${lastName}`)).toEqual([
      'Jo|Mc "Mac" Doe',
      "Anna;Lena|O'Neill",
    ])
  })

  it('normalizes phone numbers', async () => {
    await imported('patients.csv', `${HEADER}1,Jo,Doe,+90 (532) 123-45-67,,,\n`)
    expect(await patients()).toMatchObject([{ phoneNumber: '+905321234567' }])
  })

  it('imports the first of two rows with one id, and rejects the second with the line of the first', async () => {
    const file = `${HEADER}1,Jo,Doe,,,,\n2,Al,Roe,,,,\n1,Other,Name,,,,\n`
    expect(await imported('patients.csv', file)).toMatchObject({
      imported: 2,
      rejected: 1,
      rejections: ['4: external_id is already used on line 2'],
    })
    // Also when the first is there already and does not change.
    expect(await imported('patients.csv', file)).toMatchObject({ updated: 0, unchanged: 2, rejected: 1 })
    expect((await patients()).map(({ firstName }) => firstName)).toEqual(['Al', 'Jo'])
  })

  it.each([
    ['a column too many', '1,Jo,Doe,,,,,x', '2: has a value in column 8, but the header has 7 columns'],
    ['a column too few', '1,Jo,Doe', '2: has 3 columns, but the header has 7'],
    ['no external id', ',Jo,Doe,,,,', '2: external_id is required'],
    ['no name', '1,,Doe,,,,', '2: first_name is required'],
    ['a name too long', `1,${'x'.repeat(101)},Doe,,,,`, '2: first_name must have at most 100 characters'],
    [
      'a control character',
      '1,J\u0007o,Doe,,,,',
      '2: first_name must not contain control characters or broken Unicode',
    ],
    [
      'a local number',
      '1,Jo,Doe,0532 123 45 67,,,',
      '2: phone_number needs its country code: +49 171 1234567, not 0171... or 0049...',
    ],
    ['an invalid email address', '1,Jo,Doe,,not mail,,', '2: email_address must be an email address'],
    ['a date that does not exist', '1,Jo,Doe,,,2026-02-30,', '2: date_of_birth is not a date that exists'],
    ['a date of birth in the future', '1,Jo,Doe,,,2026-05-02,', '2: date_of_birth must not be in the future'],
    ['another gender', '1,Jo,Doe,,,,x', '2: gender must be one of male, female, other, unknown'],
    ['an unclosed quote', '1,"Jo,Doe,,,,', '2: has an unclosed quote; the file may be truncated here'],
    ['a stray quote', '1,Jo,D"oe,,,,', '2: has a quote in the middle of an unquoted field'],
    [
      'two invalid fields',
      '1,,Doe,1,,,',
      '2: first_name is required; phone_number needs its country code: +49 171 1234567, not 0171... or 0049...',
    ],
  ])('rejects a row with %s and reports its line and field', async (_, row, reason) => {
    expect(await imported('patients.csv', `${HEADER}${row}\n`)).toMatchObject({
      imported: 0,
      rejected: 1,
      rejections: [reason],
    })
  })

  it('imports the valid rows and writes the invalid ones with their reason to a file for its owner, which can be corrected and imported', async () => {
    const file = `${HEADER}1,Jo,Doe,,,,\n2,Al,"Roe, jr.",nope,,,\n3,Di,Poe,,,,\n`
    expect(await imported('patients.csv', file)).toMatchObject({ imported: 2, rejected: 1 })
    const path = rejectedFile(join(folder, 'patients.csv'))
    const written = readFileSync(path, 'utf8')
    expect(written).toBe(
      `${HEADER.trim()},reason\n2,Al,"Roe, jr.",nope,,,,phone_number must be an international number such as +49 171 1234567\n`,
    )
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await imported('patients.rejected.csv', written.replace('nope', ''))).toMatchObject({
      imported: 1,
    })
    await imported('patients.csv', file.replace('nope', ''))
    expect(existsSync(path)).toBe(false)
  })

  it('rejects the row of a file in UTF-8 that has broken characters', async () => {
    const file = Buffer.concat([
      Buffer.from(`${HEADER}1,Zoë,Çelik,,,,\n2,Ren`),
      Buffer.from([0xe9]),
      Buffer.from(',Doe,,,,\n'),
    ])
    expect(await imported('patients.csv', file)).toMatchObject({
      imported: 1,
      rejections: ['3: first_name has characters that are not UTF-8'],
    })
  })

  it.each([
    [
      'an unknown column',
      'external_id,first_name,last_name,shoe_size\n1,Jo,Doe,44\n',
      /patients\.csv:1: unknown column "shoe_size"; valid columns of patients are external_id, /,
    ],
    ['a missing column', 'external_id,first_name\n1,Jo\n', /patients\.csv:1: column "last_name" is missing/],
    [
      'a column twice',
      'external_id,first_name,last_name,first_name\n1,Jo,Doe,Al\n',
      /patients\.csv:1: the column "first_name" appears twice/,
    ],
  ])('rejects a file with %s', async (_, content, message) => {
    await expect(imported('patients.csv', content)).rejects.toThrow(message)
  })

  it.each([
    ['no known column', '17,Ayla,Kaya,+905321234567,1980-01-01,,female\n'],
    ['the same text twice', '17,Kaya,Kaya,+905321234567,1980-01-01,,female\n'],
  ])('does not quote a first line that is a patient instead of a header, with %s', async (_, content) => {
    const failure = await imported('patients.csv', content).catch((error: Error) => error.message)
    expect(failure).toMatch(/patients\.csv:1: line 1 does not look like a header/)
    expect(failure).not.toMatch(/Kaya|Ayla|905/)
  })

  it('rejects only the row with a stray quote, and reports the right lines after it', async () => {
    const good = (n: number) => `${n},First${n},Last${n},,,,\n`
    const file =
      HEADER +
      good(1) +
      '2,"Jo" Smith,Doe,,,,\n' +
      good(3) +
      '\n' +
      '4,"Never closed,Doe,,,,\n' +
      good(5) +
      '6,"Two\r\nlines",Doe,,,,\n' +
      good(7) +
      '8,x\n'
    const result = await imported('patients.csv', file)
    expect(result.rejections).toEqual([
      '3: has text after a closing quote; double the quotes inside a field',
      '6: has an unclosed quote; the file may be truncated here',
      '8: first_name must not contain control characters or broken Unicode',
      '11: has 2 columns, but the header has 7',
    ])
    expect((await patients()).map(({ firstName }) => firstName)).toEqual([
      'First7',
      'First5',
      'First3',
      'First1',
    ])
  })

  it('reads both kinds of line endings in one file', async () => {
    const file = `${HEADER.trim()}\r\n1,Jo,Doe,,,,female\n2,Al,Roe,,,,male\r\n`
    expect(await imported('patients.csv', file)).toMatchObject({ imported: 2, rejections: [] })
    expect((await patients()).map(({ gender }) => gender)).toEqual(['male', 'female'])
  })

  it('imports each row once when two imports of the same rows run concurrently', async () => {
    const rows = Array.from({ length: 200 }, (_, n) => `${n},First${n},Last${n},,,,\n`).join('')
    writeFileSync(join(folder, 'patients-b.csv'), HEADER + rows)
    await Promise.all([imported('patients.csv', HEADER + rows), imported('patients-c.csv', HEADER + rows)])
    expect((await patientStore(db).page(clinic.id, { page: 1, limit: 1 })).total).toBe(200)
  })

  it.each([
    ['patients.csv', '', 'is empty'],
    ['patients.csv', ' \r\n\n', 'is empty'],
    ['patients.csv', '\uFEFF', 'is empty'],
    ['patients.csv', HEADER, 'has no rows'],
    ['patients.csv', `${HEADER},,,,,,\n`, 'has no rows'],
    ['patients.ndjson', '\n\n', 'is empty'],
  ])('fails for a file %s without rows: %j', async (name, content, message) => {
    await expect(imported(name, content)).rejects.toThrow(`${name}: the file ${message}`)
  })

  it('reports rejected rows in the order of their lines, whichever check rejects them', async () => {
    await imported('patients.csv', `${HEADER}p,Jo,Doe,,,,\n`)
    const lines = ['1,p,SENT', '2,unknown,PENDING', '3,p,nonsense', '4,unknown,PENDING', '5,p,nonsense'].map(
      (row) => {
        const [id, patient, status] = row.split(',')
        return `${id},${patient},${id},2026-04-01,1,${status?.toLowerCase()}\n`
      },
    )
    const header = 'external_id,patient_external_id,invoice_number,issue_date,subtotal,status\n'
    const { rejections, imported: count } = await imported('invoices.csv', header + lines.join(''))
    expect(count).toBe(1)
    expect(rejections.map((text) => text.split(':')[0])).toEqual(['3', '4', '5', '6'])
  })

  it('reports once that it waits for the store', async () => {
    const file = join(folder, 'patients.csv')
    writeFileSync(file, `${HEADER}1,Jo,Doe,,,,\n`)
    const entity = importEntities(db.table, () => NOW).find(
      ({ name }) => name === 'patients',
    ) as ImportableEntity<unknown>
    const write = vi
      .fn(entity.write)
      .mockRejectedValueOnce(new UnavailableError('down'))
      .mockRejectedValueOnce(new UnavailableError('down'))
    const onWait = vi.fn()
    await importFile(file, { ...entity, write }, clinic, { now: () => NOW, onWait })
    expect(write).toHaveBeenCalledTimes(3)
    expect(onWait).toHaveBeenCalledTimes(1)
  })
})

describe('importing patients from NDJSON', () => {
  it('joins a line that is read in several parts', async () => {
    const blank = ' '.repeat(100_000)
    const file = `{"external_id":1,"first_name":"Jo",${blank}"last_name":"Doe"}\n`
    expect(await imported('patients.ndjson', file)).toMatchObject({ imported: 1, rejections: [] })
  })

  it('reads numbers as ids, keeps U+2028 inside a string, and skips empty lines', async () => {
    const file =
      '\uFEFF{"external_id":1,"first_name":"Jo","last_name":"A\u2028B"}\r\n\n{"external_id":"2","first_name":"Al","last_name":"Roe","phone_number":null}'
    expect(await imported('patients.ndjson', file)).toMatchObject({ imported: 2, rejections: [] })
  })

  it.each([
    ['text that is no JSON', '{"external_id":1\n{}', '1: is not JSON'],
    [
      'a last line that is cut off',
      '{"external_id":1,"first_na',
      '1: is not JSON; the file may be truncated in this last line',
    ],
    ['a list', '[1]\n', '1: is not a JSON object'],
    ['a number', '1\n', '1: is not a JSON object'],
    [
      'an unknown field',
      '{"external_id":1,"first_name":"Jo","last_name":"Doe","nickname":"x"}\n',
      '1: unknown field "nickname"',
    ],
    [
      'half a character',
      '{"external_id":1,"first_name":"\\ud800","last_name":"Doe"}\n',
      '1: first_name must not contain control characters or broken Unicode',
    ],
    [
      'a name that is a number',
      '{"external_id":1,"first_name":7,"last_name":"Doe"}\n',
      '1: first_name must be text',
    ],
  ])('rejects %s', async (_, content, reason) => {
    const result = await imported('patients.ndjson', content)
    expect(result.imported).toBe(0)
    expect(result.rejections[0]).toBe(reason)
  })
})

describe('importing doctors', () => {
  it('reads working hours, and changes nothing when the file is imported again', async () => {
    const file =
      'external_id,full_name,specialty,hours,breaks,time_off,is_active\n' +
      '1,Dr. Ada Ay,Cardiology,"mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00",wed 10:00-10:30,2026-12-24/2026-12-26; 2027-01-01,true\n' +
      '2,Dr. Bo Be,,,,,false\n'
    expect(await imported('doctors.csv', file)).toMatchObject({ imported: 2, rejections: [] })
    expect(await imported('doctors.csv', file)).toMatchObject({ updated: 0, unchanged: 2 })
    const [ada, bo] = (await doctorStore(db).list(clinic.id)) as unknown as [Doctor, Doctor]
    expect(ada.hours.tue).toEqual([
      { start: '09:00', end: '12:30' },
      { start: '13:30', end: '18:00' },
    ])
    expect(ada.timeOff.map(({ from, to }) => [from, to])).toEqual([
      ['2026-12-24', '2026-12-26'],
      ['2027-01-01', '2027-01-01'],
    ])
    expect(bo).toMatchObject({ isActive: false, specialty: null, hours: {} })
  })

  it.each([
    [
      'mon 25:00-26:00',
      'hours "mon 25:00-26:00": times are HH:MM-HH:MM from 00:00 to 23:59, not "25:00-26:00"',
    ],
    ['mon 10:00-09:00', 'hours "mon 10:00-09:00": 10:00 is not before 09:00'],
    ['mon 09:00-12:00,11:00-13:00', 'hours "mon 09:00-12:00,11:00-13:00": 11:00-13:00 overlaps 09:00-12:00'],
    [
      'noday 09:00-12:00',
      'hours "noday 09:00-12:00": days are mon, tue, wed, thu, fri, sat, sun or a span such as mon-fri',
    ],
  ])('rejects the hours %s', async (hours, reason) => {
    const file = `external_id,full_name,hours\n1,Dr. Ada Ay,"${hours}"\n`
    expect(await imported('doctors.csv', file)).toMatchObject({ rejections: [`2: ${reason}`] })
  })
})
