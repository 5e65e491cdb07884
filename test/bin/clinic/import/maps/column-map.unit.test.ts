import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { importEntities } from '../../../../../bin/clinic/import/entities/entities.ts'
import { withOwnIdColumns } from '../../../../../bin/clinic/import/external-ids/resolve-references.ts'
import { readColumnMap } from '../../../../../bin/clinic/import/maps/column-map.ts'
import { rowMap } from '../../../../../bin/clinic/import/maps/row-map.ts'
import type { Table } from '../../../../../shared/store/table/table.ts'
import { blocksOf } from '../../../../support/documentation.ts'
import { NOW } from '../../../../support/table.ts'

const folder = mkdtempSync(join(tmpdir(), 'column-map-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const entities = importEntities({} as Table, () => NOW)

function map(content: unknown) {
  const path = join(folder, 'own.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return readColumnMap(path, entities)
}

describe('a map that is wrong', () => {
  const patients = (more: object) => ({ entities: { patients: more } })
  it.each<[unknown, string]>([
    ['{', 'own.json: is not JSON'],
    [[], 'own.json: the map '],
    [{}, 'own.json: entities must have a map for each entity'],
    [{ entities: {}, encodng: 'utf-8' }, 'own.json: unknown key "encodng"'],
    [{ entities: {}, encoding: 'latin9' }, 'own.json: encoding must be one of utf-8, utf-16le'],
    [
      { entities: {}, dates: ['DD.MM.YY'] },
      'own.json: dates.0 must consist of YYYY, MM or M or MMM, and DD or D',
    ],
    [{ entities: {}, dates: [] }, 'own.json: dates must be a list of formats such as D.M.YYYY'],
    [{ entities: {}, times: ['HH.MM'] }, 'own.json: times.0 must consist of H or h, mm'],
    [{ entities: {}, times: ['h:mm'] }, 'own.json: times.0 must consist of H or h, mm'],
    [{ entities: {}, country: 'Germany' }, 'own.json: country must be the code of a country such as DE'],
    [{ entities: {}, timezone: 'CET+1' }, 'own.json: timezone must be an IANA time zone'],
    [{ entities: {}, decimal: ',' }, 'own.json: decimal must be "comma" or "point"'],
    [{ entities: { horses: {} } }, 'own.json: entities.horses: unknown entity; valid ones are departments'],
    [
      patients({ columns: { name: 'Name' } }),
      'own.json: entities.patients.columns.name: patients have no such field',
    ],
    [
      patients({ columns: { notes: 3 } }),
      'own.json: entities.patients.columns.notes must be the name of a column, or a list of names',
    ],
    [
      patients({ columns: { notes: { column: 'x', part: 'y' } } }),
      'own.json: entities.patients.columns.notes.part must be one of date, time',
    ],
    [
      patients({ columns: { notes: { cases: 1 } } }),
      'own.json: entities.patients.columns.notes.cases must be a list of cases',
    ],
    [
      patients({ ignore: 'all' }),
      'own.json: entities.patients.ignore must be "others", or a list of columns',
    ],
    [
      patients({ values: { gender: { m: 1 } } }),
      'own.json: entities.patients.values.gender.m must be text or null',
    ],
  ])('%j is rejected with what is wrong and where', (content, message) => {
    expect(() => map(content)).toThrow(message)
  })

  it('names those that ship with the tool if there is none', () => {
    expect(() => readColumnMap('clinko', entities)).toThrow(
      '--map clinko: there is no such file, nor a map of this name. Maps that ship with the tool: cliniko, german, turkish.',
    )
  })
})

it.each(['cliniko', 'german', 'turkish'])('the map %s ships with the tool', (name) => {
  const { entities: maps } = readColumnMap(name, entities)
  expect(Object.keys(maps)).toEqual(['doctors', 'patients', 'appointments', 'invoices', 'payments'])
})

it('the map of the guide is one', () => {
  const maps = blocksOf('docs/operate/moving-in.md').filter(({ language }) => language === 'json')
  expect(maps.map(({ text }) => Object.keys(map(text).entities))).toEqual([['patients', 'appointments']])
})

describe('a map', () => {
  const read = (entity: string, own: object, row: Record<string, unknown>, formats: object = {}) => {
    const fields = entities.find(({ name }) => name === entity)?.columns ?? []
    const { fields: found, problems } = rowMap(
      withOwnIdColumns(['external_id', ...fields]),
      entity,
      map({ ...formats, entities: { [entity]: own } }),
      'Europe/Istanbul',
    ).read(row)
    return problems.size > 0 ? Object.fromEntries(problems) : found
  }

  it('uses the first column that has a value, and splits a name', () => {
    const columns = {
      phone_number: ['Mobile', 'Home'],
      first_name: { column: 'Name', part: 'first_names' },
      last_name: { column: 'Name', part: 'last_name' },
      notes: ['Remark', 'Hint'],
    }
    expect(
      read('patients', { columns }, { MOBILE: null, home: '1', Name: ' Anna Lena Weiß ', hint: null }),
    ).toEqual({
      phone_number: '1',
      first_name: 'Anna Lena',
      last_name: 'Weiß',
      notes: null,
    })
  })

  it('reads a column of ids for the field that the map says, and one column for two fields', () => {
    const columns = { external_id: 'ID', patient_external_id: 'Patient ID' }
    expect(read('invoices', { columns }, { id: '7', 'Patient ID': '3' })).toEqual({
      external_id: '7',
      patient_external_id: '3',
    })
    expect(
      read('invoices', { columns: { external_id: 'Invoice number' } }, { invoice_number: 'R-1' }),
    ).toEqual({
      external_id: 'R-1',
      invoice_number: 'R-1',
    })
  })

  it('translates values in any case, fills empty ones, and sets constants', () => {
    const own = {
      columns: { gender: 'Sex' },
      values: { gender: { Male: 'male', '': 'unknown', x: null } },
      constants: { is_active: true },
    }
    const gender = (value: unknown) => read('patients', own, { sex: value })
    expect(gender('MALE')).toEqual({ gender: 'male', is_active: true })
    expect(gender(null)).toEqual({ gender: 'unknown', is_active: true })
    expect(gender('X')).toEqual({ gender: null, is_active: true })
    expect(gender('other')).toEqual({ gender: 'other', is_active: true })
  })

  it('splits a column with date and time, and picks the first case that is true', () => {
    const own = {
      columns: {
        appointment_date: { column: 'Start', part: 'date' },
        start_time: { column: 'Start', part: 'time' },
        status: {
          cases: [
            { column: 'Cancelled at', value: 'cancelled' },
            { column: 'DNA', is: ['yes', '1'], value: 'no_show' },
          ],
        },
      },
    }
    const formats = { dates: ['D MMM YYYY'], times: ['h:mm a'] }
    const start = '4 Mar 2026, 1:05 pm'
    const at = { appointment_date: '2026-03-04', start_time: '13:05' }
    expect(read('appointments', own, { start, dna: 'Yes' }, formats)).toEqual({ ...at, status: 'no_show' })
    expect(
      read('appointments', own, { start, dna: 'No', 'cancelled at': '2026-03-01' }, formats),
    ).toMatchObject({
      status: 'cancelled',
    })
    expect(read('appointments', own, { start, dna: 'No' }, formats)).toEqual(at)
    expect(read('appointments', own, { start: 'soon' }, formats)).toEqual({
      appointment_date: 'is not D MMM YYYY or YYYY-MM-DD, as the map says',
      start_time: 'has no time h:mm a or HH:mm',
    })
  })

  it('reads dates, times of the clinic, amounts and phone numbers in their formats', () => {
    const formats = { dates: ['D.M.YYYY'], times: ['H:mm'], decimal: 'comma', country: 'DE' }
    expect(
      read(
        'patients',
        {},
        { date_of_birth: '1.2.1974', created_at: '1.7.2020 9:30', phone_number: '0171 1234567' },
        formats,
      ),
    ).toEqual({
      date_of_birth: '1974-02-01',
      created_at: '2020-07-01T06:30:00.000Z',
      phone_number: '+491711234567',
    })
    expect(
      read('invoices', {}, { subtotal: '1.234,50 €', total_amount: 7, issue_date: '2026-05-01' }, formats),
    ).toEqual({
      subtotal: '1234.50',
      total_amount: 7,
      issue_date: '2026-05-01',
    })
    expect(read('patients', {}, { date_of_birth: '31.2.1974', phone_number: '12' }, formats)).toEqual({
      date_of_birth: 'is not a date that exists',
      phone_number: 'is neither a phone number of DE nor one with a country code',
    })
    expect(read('patients', {}, { date_of_birth: 'Feb 1974' }, formats)).toEqual({
      date_of_birth: 'is not D.M.YYYY or YYYY-MM-DD, as the map says',
    })
  })
})
