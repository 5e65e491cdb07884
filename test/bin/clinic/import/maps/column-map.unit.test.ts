import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readColumnMap } from '../../../../../bin/clinic/import/maps/column-map.ts'
import { rowMap } from '../../../../../bin/clinic/import/maps/row-map.ts'
import type { Table } from '../../../../../shared/store/table/table.ts'
import { importEntities } from '../../../../../shared/sync/entities/entities.ts'
import { withOwnIdColumns } from '../../../../../shared/sync/external-ids/resolve-references.ts'
import { blocksOf } from '../../../../support/documentation.ts'
import { NOW } from '../../../../support/table.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'

const folder = temporaryFolder()

const entities = importEntities({} as Table, () => NOW)

function map(content: unknown) {
  const path = join(folder, 'own.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return readColumnMap(path, entities)
}

describe('a map that is wrong', () => {
  const patients = (more: object) => ({ entities: { patients: more } })
  const notes = (column: unknown) => patients({ columns: { notes: column } })
  it.each<[unknown, string]>([
    ['{', 'is not JSON'],
    [[], 'the map '],
    [{}, 'entities must have a map for each entity'],
    [{ entities: {}, encodng: 'utf-8' }, 'unknown key "encodng" (did you mean encoding?)'],
    [{ entities: {}, encoding: 'latin99' }, 'encoding must be an encoding such as windows-1252'],
    [{ entities: {}, dates: ['DD.MM'] }, 'dates.0 must consist of YYYY or YY, MM or M or MMM, and DD or D'],
    [{ entities: {}, dates: [] }, 'dates must be a list of formats such as D.M.YYYY'],
    [{ entities: {}, times: ['HH.MM'] }, 'times.0 must consist of H or h, and'],
    [{ entities: {}, times: ["H'h mm:ss"] }, 'times.0 must consist of H or h, and'],
    [{ entities: {}, times: ['h:mm'] }, 'times.0 must consist of H or h, and'],
    [{ entities: {}, country: 'Germany' }, 'country must be the code of a country such as DE'],
    [{ entities: {}, timezone: 'CET+1' }, 'timezone must be an IANA time zone'],
    [{ entities: {}, decimal: ',' }, 'decimal must be "comma" or "point"'],
    [{ entities: { horses: {} } }, 'entities: unknown entity "horses"'],
    [
      patients({ columns: { frist_name: 'Name' }, values: { sex: {} } }),
      'PATIENTS.columns: unknown field "frist_name" (did you mean first_name?); PATIENTS.values: unknown field "sex"',
    ],
    [notes(3), 'PATIENTS.columns.notes must be the name of a column, or a list of names'],
    [notes({ column: 'x', part: 'y' }), 'PATIENTS.columns.notes.part must be one of date, time'],
    [notes({ cases: 1 }), 'PATIENTS.columns.notes.cases must be a list of cases'],
    [patients({ ignore: 'all' }), 'PATIENTS.ignore must be "others", or a list of columns'],
    [
      patients({ values: { gender: { m: 1 } } }),
      'PATIENTS.values.gender.m must be text, true, false or null',
    ],
    [
      patients({ optional: ['last_name'] }),
      'PATIENTS.optional.0 must be one of phone_number, email_address, date_of_birth, national_id',
    ],
    [{ entities: { doctors: { optional: ['phone_number'] } } }, 'entities.doctors: unknown key "optional"'],
    [patients({ line_items: { description: 'x' } }), 'entities.patients: unknown key "line_items"'],
    [
      { entities: { invoices: { line_items: { price: 'x' } } } },
      'entities.invoices.line_items: unknown field "price"',
    ],
    [notes({ column: 'x', match: '(' }), 'PATIENTS.columns.notes.match must be a regular expression'],
    [{ entities: {}, language: 'x' }, 'language must be the tag of a language such as pl'],
  ])('%j is rejected with what is wrong and where', (content, message) => {
    expect(() => map(content)).toThrow(`own.json: ${message.replaceAll('PATIENTS', 'entities.patients')}`)
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

it('the maps of the guide can be read', () => {
  const maps = blocksOf('docs/operate/moving-in.md').filter(({ language }) => language === 'json')
  expect(maps.map(({ text }) => Object.keys(map(text).entities))).toEqual([
    ['patients', 'appointments'],
    ['invoices', 'line-items'],
    ['invoices', 'payments'],
  ])
})

describe('a map', () => {
  const read = (
    entity: string,
    own: object,
    row: Record<string, unknown>,
    formats: object = {},
    ...further: Record<string, unknown>[]
  ) => {
    const fields = entities.find(({ name }) => name === entity)?.columns ?? []
    const { fields: found, problems } = rowMap(
      withOwnIdColumns(['external_id', ...fields]),
      entity,
      map({ ...formats, entities: { [entity]: own } }),
      { timezone: 'Europe/Istanbul', currency: 'EUR' },
      NOW,
    ).read(row, further)
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
    const both = { external_id: 'Invoice number', invoice_number: 'Invoice number' }
    const row = { invoice_number: 'R-1' }
    expect(read('invoices', { columns: both }, row)).toEqual({ external_id: 'R-1', invoice_number: 'R-1' })
    expect(read('invoices', { columns: { external_id: 'Invoice number' } }, row)).toEqual({
      external_id: 'R-1',
    })
  })

  it('reads no id of a record next to a mapped external id, and nothing from an ignored column', () => {
    const own = { columns: { external_id: 'Doctor' }, ignore: ['ID', 'Specialty'] }
    expect(read('doctors', own, { id: '7', doctor: 'Lis', specialty: 'x', full_name: 'Jan Lis' })).toEqual({
      external_id: 'Lis',
      full_name: 'Jan Lis',
    })
  })

  it('reads no full name from the column that has both names', () => {
    const columns = {
      first_name: { column: 'Full Name', part: 'first_names' },
      last_name: { column: 'Full Name', part: 'last_name' },
    }
    expect(read('patients', { columns }, { 'full name': 'Mr John Smith' }, { titles: ['Mr'] })).toEqual({
      first_name: 'John',
      last_name: 'Smith',
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
      currency: 'EUR',
      total_amount: 7,
      issue_date: '2026-05-01',
    })
    expect(read('patients', {}, { date_of_birth: '31.2.1974', phone_number: '12' }, formats)).toEqual({
      date_of_birth: 'is not a date that exists',
      phone_number:
        'is neither a phone number of DE, the country in the map, such as 01512 3456789, nor one with a country code',
    })
    expect(read('patients', {}, { date_of_birth: 'Feb 1974' }, formats)).toEqual({
      date_of_birth: 'is not D.M.YYYY or YYYY-MM-DD, as the map says',
    })
  })

  it.each([
    ['DE', '0171 1234567 oder 030 901820', '+491711234567'],
    ['DE', '0171 1234567\n030 901820', '+491711234567'],
    ['DE', 'Handy: 0171/1234567, Festnetz: 030 901820', '+491711234567'],
    ['DE', 'Tel. 030 12345678 (Mutter)', '+493012345678'],
    ['DE', '+49 (0)30/12345678; 0171 1234567', '+493012345678'],
    ['DE', '＋49 30 12345678', '+493012345678'],
    ['US', 'h: 415-555-2671 c: 212-555-2368', '+14155552671'],
    ['ES', '612345678/913456789', '+34612345678'],
    ['IN', '98765 43210, 98765 43211', '+919876543210'],
    ['RU', '8 912 345 67 89; 8 495 123 45 67', '+79123456789'],
    ['TR', '0532 123 45 67 - 0533 123 45 67', '+905321234567'],
    ['LU', '28 12 17', '+352281217'],
    ['LU', '47-28-30', '+352472830'],
    ['DK', '28 12 20 17', '+4528122017'],
    ['AR', '11 2345-6789', '+541123456789'],
  ])('reads the first number with the country %s in %j', (country, phone_number, number) => {
    expect(read('patients', {}, { phone_number }, { country })).toEqual({ phone_number: number })
  })

  it.each([
    // Dates that would be numbers.
    ['DE', '28. 12. 2017'],
    ['DE', '28.12.17'],
    ['DE', '1980-12-30'],
    // Either +49 151 12345678 or +49 49151 12345678.
    ['DE', '4915112345678'],
    ['DE', '0000000000'],
    ['DE', '1/31/80'],
    ['DE', '28.12.2017 00.00'],
    ['AT', '28\u201112\u20112017'],
    ['AT', '1996. 12. 28.'],
    ['DK', '28 12 2017'],
    ['KR', '٢٨/١٢/٢٠١٧'],
    ['FI', '28\u201312\u20132017'],
    ['HU', '２８．１２．２０１７'],
    ['SE', '28.12.1897'],
    ['DE', '28.12.1980, 0171 1234567'],
    // Digits that are left over, such as extensions.
    ['DE', '0171 1234567 oder 030 901820 App. 15'],
    ['DE', '030 12345678 ext 5'],
    ['GB', '07911 123456 after 6pm'],
    ['GB', 'call before 9 07911 123456'],
    ['JP', '03-1234-5678（内線12）'],
    ['US', '(415) 555-2671, 123'],
    ['US', '(415) 555-2671;ext=5 / (212) 555-2368'],
    ['DE', 'DE89 3704 0044 0532 0130 00'],
  ])('reads no number with the country %s in %j', (country, phone_number) => {
    expect(read('patients', {}, { phone_number }, { country })).toEqual({
      phone_number: expect.stringContaining(
        `is neither a phone number of ${country}, the country in the map`,
      ),
    })
  })

  it('leaves out the spaces, dots and slashes of a national id', () => {
    expect(read('patients', {}, { national_id: ' 835415/5700' }, {})).toEqual({ national_id: '8354155700' })
    expect(read('patients', {}, { national_id: '123.456.789-00' }, {})).toEqual({
      national_id: '123456789-00',
    })
  })

  it('says whether the date or the time of a value is wrong', () => {
    const own = { columns: { appointment_date: { column: 'start', part: 'date' } } }
    const problem = (start: string) =>
      read('appointments', own, { start }, { dates: ['D. M. YYYY'], times: ['H:mm'] }).appointment_date
    expect(problem('31. 2. 2026 10:00')).toBe('is not a date that exists')
    expect(problem('12. 3. 2026 26:00')).toBe('is followed by something that is not H:mm or HH:mm')
    expect(problem('2026-03-12T27:15:00Z')).toBe('is followed by something that is not H:mm or HH:mm')
    expect(problem('12/3/2026')).toBe('is not D. M. YYYY or YYYY-MM-DD, as the map says')
  })

  it('reads several columns for one field: joined, or the first with a value that can be read', () => {
    const columns = { last_name: { join: ['Apellido 1', 'Apellido 2'] }, phone_number: ['Home', 'Mobile'] }
    expect(
      read(
        'patients',
        { columns, empty: ['n/a'] },
        { 'apellido 1': 'Ruiz ', 'apellido 2': 'Peña', home: 'none', mobile: '612 34 56 78 / 93 123 45 67' },
        { country: 'ES' },
      ),
    ).toEqual({ last_name: 'Ruiz Peña', phone_number: '+34612345678' })
    expect(
      read('patients', { columns, empty: ['N/A'] }, { 'apellido 1': 'n/a', 'apellido 2': null }),
    ).toEqual({
      last_name: null,
    })
  })

  it.each([
    ['DUPONT Jean-Pierre', 'Jean-Pierre', 'DUPONT'],
    ['DE LA TOUR Zoé', 'Zoé', 'DE LA TOUR'],
    ["O'BRIEN Ève Marie", 'Ève Marie', "O'BRIEN"],
    ['ANNA LENA WEISS', 'ANNA LENA', 'WEISS'],
    ['JP Smith', 'JP', 'Smith'],
    ['Kowalska, Anna Maria', 'Anna Maria', 'Kowalska'],
    ['Dr. med. Kowalska, Anna', 'Anna', 'Kowalska'],
    ['Kowalska, Frau Anna', 'Anna', 'Kowalska'],
    ['Anna Kowalska', 'Anna', 'Kowalska'],
    ['300', null, '300'],
    ['Wesley Eduardo Bianchi de Souza', 'Wesley Eduardo Bianchi', 'de Souza'],
    ['Jan op den Kamp', 'Jan', 'op den Kamp'],
    ['Maria Soares e Silva', 'Maria', 'Soares e Silva'],
    ['Carlos Souza Neto', 'Carlos', 'Souza Neto'],
    ['Ana Neto', 'Ana', 'Neto'],
    ['anna maria weiß', 'anna maria', 'weiß'],
  ])('splits the name %s', (name, first_name, last_name) => {
    const columns = {
      first_name: { column: 'Name', part: 'first_names' },
      last_name: { column: 'Name', part: 'last_name' },
    }
    const titles = ['Dr.', 'med.', 'Frau']
    expect(read('patients', { columns, titles }, { name })).toEqual({ first_name, last_name })
  })

  it('reads booleans in any case, and what other texts mean', () => {
    const own = { values: { gender: { k: 'female', '*': 'unknown' }, is_active: { tak: true } } }
    const of = (gender: string, is_active: string) => read('patients', own, { gender, is_active })
    expect(read('patients', {}, { accepts_sms: 'No' })).toEqual({ accepts_sms: false })
    expect(of('K', 'Tak')).toEqual({ gender: 'female', is_active: true })
    expect(of('?', 'NO')).toEqual({ gender: 'unknown', is_active: false })
  })

  it('reads the part of a text that matches', () => {
    const columns = { doctor_external_id: { column: 'Doctor', match: '\\((\\w+)\\)$' } }
    const of = (doctor: string) => read('appointments', { columns }, { doctor })
    expect([of('Ana Ruiz (AR)'), of('Ana Ruiz')]).toEqual([
      { doctor_external_id: 'AR' },
      { doctor_external_id: null },
    ])
  })

  it.each<[unknown, string, object]>([
    ['Length', '45 min', { end_time: '10:15' }],
    [30, '', { end_time: '10:00' }],
    ['Length', '?', { end_time: 'is not a number of minutes, as the map says' }],
    ['Length', '15:00', { end_time: 'is after midnight' }],
  ])('computes the end from %j of %j', (minutes, length, expected) => {
    const columns = { start_time: 'From', end_time: { minutes } }
    expect(read('appointments', { columns }, { from: '9:30', length }, { times: ['H:mm'] })).toMatchObject(
      expected,
    )
  })

  it('takes two digits of the year of a birth for a date that is past', () => {
    const of = (date_of_birth: string) => read('patients', {}, { date_of_birth }, { dates: ['DD.MM.YY'] })
    expect([of('31.12.25'), of('31.12.26')]).toEqual([
      { date_of_birth: '2025-12-31' },
      { date_of_birth: '1926-12-31' },
    ])
  })

  describe('in a clinic with EUR', () => {
    const formats = { decimal: 'comma' }
    const amountOf = (field: string, cell: string, row: Record<string, unknown> = {}, own: object = {}) =>
      read('invoices', own, { [field]: cell, ...row }, formats)
    const lineOf = (field: string, cell: string) => {
      const own = { columns: { external_id: 'Nr' }, line_items: { [field]: 'Cell' } }
      return read('invoices', own, { Nr: 1, Cell: cell }, formats)
    }

    it.each([
      ['EUR 1.012,50', '1012.50'],
      ['(12,50 €)', '-12.50'],
      ['€ 12,50 EUR', '12.50'],
      ['\u200f\u200e-12,50 \u200f€', '-12.50'],
      ['(\u061c12,50 €)', '-12.50'],
    ])('an amount reads %j as %s', (cell, value) => {
      expect(amountOf('subtotal', cell)).toMatchObject({ subtotal: value })
    })

    it.each(['19 %', '12,50 $', '12,50 € / h', '$ 12,50 €', '12 50', 'EUR'])(
      'an amount rejects %j',
      (cell) => {
        for (const field of ['subtotal', 'tax_amount', 'discount_amount', 'total_amount'])
          expect(amountOf(field, cell)).toEqual({
            [field]: expect.stringMatching(/^(has a unit that is not known to be EUR|is not a number)/),
          })
        for (const field of ['unit_price', 'tax_amount', 'discount_amount', 'total_amount'])
          expect(lineOf(field, cell)).toEqual({
            [`line_items.${field}`]: expect.stringMatching(/EUR|number/),
          })
      },
    )

    it.each(['19 %', '%19', '19％', '19٪', '19'])('a rate reads %j', (cell) => {
      for (const field of ['tax_rate', 'discount_rate'])
        expect(lineOf(field, cell)).toMatchObject({ line_items: [{ [field]: '19' }] })
    })

    it.each(['19 €', '19 EUR', '19 ‰', '19 h', '19 %%', '19 St'])('a rate rejects %j', (cell) => {
      for (const field of ['tax_rate', 'discount_rate'])
        expect(lineOf(field, cell)).toEqual({
          [`line_items.${field}`]: 'has a unit that is not known to be %',
        })
    })

    it.each(['2', '2 St', '2 Stk.', '2 szt.', '2 h', '2 pcs', '2 UN', '2 Std.'])(
      'a quantity reads %j',
      (cell) => {
        expect(lineOf('quantity', cell)).toMatchObject({ line_items: [{ quantity: '2' }] })
      },
    )

    it.each(['2 %', '2 €', '2 EUR', '2 kg', '2 ‰'])('a quantity rejects %j', (cell) => {
      expect(lineOf('quantity', cell)).toEqual({
        'line_items.quantity': 'has a unit that is not known to be pcs or h',
      })
    })

    it.each([
      [{ Netto: '12,50 €' }, { subtotal: '12.50', currency: 'EUR' }],
      [{ Netto: '12,50' }, { subtotal: '12.50' }],
    ])('an amount with a unit says the currency of a row without one: %j', (cells, fields) => {
      const columns = { subtotal: 'Netto', currency: 'Devise' }
      for (const [more, stated] of [
        [{}, fields],
        [{ Devise: null }, { currency: null, ...fields }],
      ])
        expect(read('invoices', { columns }, { ...cells, ...more }, formats)).toEqual(stated)
    })

    it('an amount has the unit of the currency of its row, if the row has one', () => {
      const inCurrency = { currency: 'USD' }
      expect(amountOf('subtotal', '$12,50', inCurrency)).toMatchObject({ subtotal: '12.50' })
      expect(amountOf('subtotal', '12,50 €', inCurrency)).toEqual({
        subtotal: 'has a unit that is not known to be USD',
      })
      expect(amountOf('subtotal', '12,50 zł', {}, { constants: { currency: 'PLN' } })).toMatchObject({
        subtotal: '12.50',
      })
      const translated = { columns: { currency: 'Devise' }, values: { currency: { Euro: 'EUR' } } }
      expect(amountOf('subtotal', 'Fr. 12,50', { Devise: 'CHF' }, translated)).toMatchObject({
        subtotal: '12.50',
      })
      expect(amountOf('subtotal', '12,50 €', { Devise: 'Euro' }, translated)).toMatchObject({
        subtotal: '12.50',
      })
      // The currency itself is rejected later.
      expect(amountOf('subtotal', '12,50 €', { currency: 'Taler' })).toMatchObject({ subtotal: '12.50' })
    })
  })

  it('makes line items of the rows of an invoice, and rejects rows that differ', () => {
    const own = {
      columns: { external_id: 'Nr', issue_date: 'Date' },
      line_items: { description: 'Item', quantity: 'Qty', unit_price: 'Price' },
    }
    const row = { nr: '7', date: '2026-01-02', item: 'Exam', qty: '2', price: '1.050,00' }
    const formats = { decimal: 'comma' }
    expect(read('invoices', own, row, formats, { ...row, date: null, item: 'X-ray', qty: null })).toEqual({
      external_id: '7',
      issue_date: '2026-01-02',
      line_items: [
        { description: 'Exam', quantity: '2', unit_price: '1050.00' },
        { description: 'X-ray', unit_price: '1050.00' },
      ],
    })
    expect(read('invoices', own, row, formats, { ...row, date: '2026-01-03', price: 'free' })).toEqual({
      issue_date: 'differs between the rows of the record',
      'line_items.unit_price': 'is not a number such as 1.234,50, as the map says',
    })
  })

  it('makes line items of the columns of a row that are filled', () => {
    const item = (n: number) => ({
      description: `item${n}_desc`,
      quantity: `item${n}_qty`,
      unit_price: `item${n}_price`,
    })
    const row = {
      no: '7',
      item1_desc: 'Exam',
      item1_qty: '1',
      item1_price: '80,00',
      item2_desc: '',
      item2_qty: '0',
    }
    const own = { columns: { external_id: 'No' }, line_items: [item(1), item(2), item(3)] }
    const filled = { ...row, item3_desc: 'Drops', item3_price: '5,00', item2_price: '0,00' }
    expect(read('invoices', own, filled, { decimal: 'comma' })).toEqual({
      external_id: '7',
      line_items: [
        { description: 'Exam', quantity: '1', unit_price: '80.00' },
        { description: 'Drops', unit_price: '5.00' },
      ],
    })
    const columns = withOwnIdColumns(['external_id', 'line_items'])
    const isGrouped =
      rowMap(columns, 'invoices', map({ entities: { invoices: own } }), { timezone: 'UTC', currency: 'EUR' })
        .recordOf !== null
    expect(isGrouped).toBe(false)
  })
})
