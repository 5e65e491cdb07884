/** What a converter reads of cells: a cell that could mean something else is a problem until the converter says what it means. */
import { expect, it } from 'vitest'
import { FileColumns } from '../../../../../bin/clinic/import/converters/file-columns.ts'
import { Row } from '../../../../../bin/clinic/import/converters/row.ts'

const NEW_YORK = { timezone: 'America/New_York' }
const NOW = Date.parse('2026-11-28T12:00:00Z')

/** What is read of a cell, with warnings; or the problem. */
function read(
  cell: string,
  reader: (row: Row) => unknown,
  columns = new FileColumns(['Cell'], NEW_YORK, NOW),
): unknown {
  try {
    const value = reader(new Row(2, { Cell: cell }, columns))
    if (columns.problems.size > 0) return `! ${[...columns.problems.values()].join('; ')}`
    return columns.warnings.length > 0 ? [value, ...columns.warnings] : value
  } catch (error) {
    return `! ${(error as Error).message}`
  }
}

type Reader = (row: Row) => unknown
function reading<Rest extends unknown[]>(read: (this: Row, column: string, ...rest: Rest) => unknown) {
  return (...rest: Rest): Reader => {
    return (row) => read.call(row, 'Cell', ...rest)
  }
}
const [date, time] = [reading(Row.prototype.date), reading(Row.prototype.time)]
const [timestamp, text] = [reading(Row.prototype.timestamp), reading(Row.prototype.text)]
const birth = date('M/d/yyyy')
/** The format of exports that have an offset. */
const ISO = "yyyy-MM-dd'T'HH:mm:ssXXX"

it.each<[string, Reader, unknown]>([
  ['1/1/0001', birth, '! "Cell" is before 1800: name what stands for no date in empty'],
  ['1/1/0001', date('M/d/yyyy', { empty: ['1/1/0001'] }), null],
  ['12/31/1753', birth, '! "Cell" is before 1800: name what stands for no date in empty'],
  ['12/30/1899', birth, ['1899-12-30', '"Cell" is before 1900']],
  ['2/1/74', birth, '! "Cell" has a year of two digits: the format needs yy, and latest'],
  [
    '2/1/74',
    date('M/d/yy'),
    '! the format "M/d/yy" has years of two digits: say the last date that they can mean by latest',
  ],
  ['2/1/74', date(['M/d/yyyy', 'M/d/yy'], { latest: 'today' }), '1974-02-01'],
  ['11/28/26', date('M/d/yy', { latest: 'today' }), '2026-11-28'],
  ['11/29/26', date('M/d/yy', { latest: 'today' }), '1926-11-29'],
  ['2/29/00', date('M/d/yy', { latest: '1999-12-31' }), expect.stringMatching(/^! /)],
  ['0/0/00', birth, '! "Cell" is not a date that exists as M/d/yyyy, such as 12/31/1974'],
  ['0/0/00', date('M/d/yyyy', { empty: ['0/0/00'] }), null],
  ['45321', birth, '! "Cell" is a spreadsheet\'s day number: save the column as dates'],
  ['2/30/1980', birth, '! "Cell" is not a date that exists as M/d/yyyy, such as 12/31/1974'],
  // A timestamp with an offset is that instant, whatever the zone of others.
  ['2026-01-05T14:00:00Z', timestamp(ISO, { zone: 'Asia/Tokyo' }), '2026-01-05T09:00:00-05:00'],
  ['2026-01-05T14:00:00Z', time(ISO, { offset: 'clinic' }), '09:00'],
  ['2026-01-05T14:00:00+09:00', time(ISO, { offset: 'ignore' }), '14:00'],
  [
    '2026-01-05T14:00:00Z',
    time(ISO),
    `! the format "${ISO}" has an offset: say offset: 'ignore', or 'clinic' for the clinic's time`,
  ],
  // A date at midnight UTC is that date, or the evening before here, as the converter says.
  ['2026-01-01T00:00:00Z', date('yyyy-MM-dd'), expect.stringMatching(/^! "Cell" is not/)],
  ['2026-01-01T00:00:00Z', date(ISO), expect.stringMatching(/^! the format/)],
  ['2026-01-01T00:00:00Z', date(ISO, { offset: 'ignore' }), '2026-01-01'],
  ['2026-01-01T00:00:00Z', date(ISO, { offset: 'clinic' }), '2025-12-31'],
  ['1/5/2026 14:00', timestamp('M/d/yyyy H:mm'), '! the format "M/d/yyyy H:mm" has no offset: say the zone'],
  ['1/5/2026 14:00', timestamp('M/d/yyyy H:mm', { zone: 'UTC' }), '2026-01-05T09:00:00-05:00'],
  ['1/5/2026 14:00', timestamp('M/d/yyyy H:mm', { zone: 'clinic' }), '2026-01-05T14:00:00-05:00'],
  [
    '11/1/2026 1:30',
    timestamp('M/d/yyyy H:mm', { zone: 'clinic' }),
    ['2026-11-01T01:30:00-04:00', '"Cell" occurs twice on this day in America/New_York; the first is taken'],
  ],
  [
    '3/8/2026 2:30',
    timestamp('M/d/yyyy H:mm', { zone: 'clinic' }),
    ['2026-03-08T03:30:00-04:00', '"Cell" does not exist on this day in America/New_York'],
  ],
  // Names are split by the converter.
  ['Smith, Mary, Ann', text(), 'Smith, Mary, Ann'],
])(
  'a cell that other systems mean otherwise is what the converter says: %j (%#)',
  (cell, reader, expected) => {
    expect(read(cell, reader)).toEqual(expected)
  },
)

it.each<[string, Reader, unknown]>([
  ['1er mars 1984', date('do MMMM yyyy', { locale: 'fr' }), '1984-03-01'],
  ['3 września 2026', date('d MMMM yyyy', { locale: 'pl' }), '2026-09-03'],
  ['12-Mar-26', date('d-MMM-yy', { latest: '2046-12-31' }), '2026-03-12'],
  ['5.1.2026 9.30', time(['d.M.yyyy H:mm', 'd.M.yyyy H.mm']), '09:30'],
  ['12:05 am', time('h:mm a'), '00:05'],
  ['12:05', time('h:mm'), '! the format "h:mm" needs a (am or pm) besides h'],
  ['25:00', time('H:mm'), '! "Cell" is not a time as H:mm, such as 21:45'],
  [
    '1.2.1974',
    date('DD.MM.YYYY'),
    '! the format "DD.MM.YYYY" has D, which is no part of dates and times: see https://date-fns.org/docs/parse',
  ],
  ['1.2.', date('d.M.'), '! the format "d.M." needs a year (yyyy), a month (M or MMM) and a day (d)'],
  ['1.2.1974', timestamp('d.M.yyyy', { zone: 'Mars' }), '! "Mars" is not a time zone'],
  [' n/a ', text({ empty: ['N/A'] }), null],
  ['Ana (AR)', text({ match: /\((\w+)\)$/ }), 'AR'],
  ['Ana', text({ match: /\((\w+)\)$/ }), '! "Cell" does not match /\\((\\w+)\\)$/'],
  [
    'Ana',
    text({ match: /\((\w+)\)$/, invalid: null }),
    [null, 'left out: "Cell" does not match /\\((\\w+)\\)$/'],
  ],
  ['W', (row) => row.oneOf('Cell', { m: 'male', w: 'female' }), 'female'],
  ['x', (row) => row.oneOf('Cell', { m: 'male', w: 'female' }), '! "Cell" is none of m, w'],
  ['NEIN', (row) => row.flag('Cell', 'ja', 'nein'), false],
  ['7,5 %', (row) => row.number('Cell', ',', '%'), 7.5],
  ['2 Stk.', (row) => row.number('Cell', ',', ['Stk', 'h']), 2],
  [
    '2 kg',
    (row) => row.number('Cell', ',', ['Stk', 'h']),
    '! "Cell" has a unit that is not known to be stk or h',
  ],
  ['2 kg', (row) => row.number('Cell', ','), '! "Cell" has a unit, and none is known'],
  ['1.234,50 €', (row) => row.amount('Cell', ',', 'EUR'), '1234.50'],
  ['1.234,50 $', (row) => row.amount('Cell', ',', 'EUR'), '! "Cell" has a unit that is not known to be EUR'],
  ['1.50', (row) => row.amount('Cell', ',', 'EUR'), '! "Cell" is not a number such as 1.234,50'],
  ['1', (row) => row.amount('Cell', ',', 'Euro'), '! "Euro" is not the code of a currency such as EUR'],
  ['1', (row) => row.text('Cel'), '! the file has no column "Cel" (did you mean Cell?)'],
])('%j is read (%#)', (cell, reader, expected) => {
  expect(read(cell, reader)).toEqual(expected)
})

it.each<[string, ',' | '.', string | null]>([
  ['1.234,50', ',', '1234.50'],
  ['1.234', ',', '1234'],
  ['12.34', ',', null],
  ['-12,00 ₺', ',', '-12.00'],
  ['1 234,50', ',', '1234.50'],
  ['1,23', '.', null],
  ['12.50x', '.', null],
  ['.50', '.', null],
  ['₺(12.50)', '.', '-12.50'],
  ['((12.50))', '.', null],
  ['(12.50', '.', null],
  ['--12.50', '.', null],
  ['1,234 567', '.', null],
  ['12₺50', ',', null],
  ['1.23.456', ',', null],
  ['12,50-', ',', '-12.50'],
  ['−12,50 TRY', ',', '-12.50'],
  ["1'234.50", '.', '1234.50'],
  ['12,34,567.50', '.', '1234567.50'],
  ['12,34', '.', null],
  ['\u200f\u200e-12,50 \u200f₺', ',', '-12.50'],
  ['12,50 ₺ 19 %', ',', null],
  ['12,50 ₺ / h', ',', null],
  ['12²', ',', null],
  ['50\n100', ',', null],
])('the amount %j with the decimal mark %s is %s', (cell, mark, amount) => {
  const found = read(cell, (row) => row.amount('Cell', mark, 'TRY'))
  expect(found).toEqual(amount ?? expect.stringMatching(/^! "Cell" (is not a number|has a unit)/))
})

it.each([
  ['EUR', ['EUR', 'eur', '€'], ['$', 'US$', '£', 'USD', 'CHF', 'TL', 'zł', 'DM', '%', 'h', '€%']],
  ['USD', ['USD', '$'], ['€', 'C$', 'CAD', 'R$']],
  ['CAD', ['CAD', '$', 'CA$'], ['US$', 'USD', '€']],
  ['CHF', ['CHF'], ['F', '€']],
  ['CZK', ['CZK', 'Kč'], ['kr']],
  ['SEK', ['SEK', 'kr'], ['NOK', 'Kč']],
  ['BRL', ['BRL', 'R$'], ['R', '$']],
  ['JPY', ['JPY', '¥'], ['€', '元']],
  ['RUB', ['RUB', '₽'], ['грн']],
  ['INR', ['INR', '₹'], ['R']],
])('%s is written with its signs, and no others', (currency, own, foreign) => {
  const amountWith = (unit: string) => read(`12 ${unit}`, (row) => row.amount('Cell', '.', currency))
  expect(own.map(amountWith)).toEqual(own.map(() => '12'))
  for (const unit of foreign) {
    expect(amountWith(unit)).toMatch(/^! /)
    expect(read(`12 ${unit}`, (row) => row.amount('Cell', '.', currency, { units: [unit] }))).toBe('12')
  }
})

it('counts the cells with several phone numbers, of which the first is read', () => {
  const columns = new FileColumns(['Cell'], NEW_YORK, NOW)
  for (const cell of ['0171 1234567', '0171 1234567 oder 030 901820', '030 901820; 0171 1234567'])
    read(cell, (row) => row.phone('Cell', 'DE'), columns)
  expect(columns.all).toMatchObject([{ cells: { 'as the first of several': 2 } }])
})

it.each([
  ['DE', '0171 1234567 oder 030 901820', '+491711234567'],
  ['DE', 'Handy: 0171/1234567, Festnetz: 030 901820', '+491711234567'],
  ['DE', 'Tel. 030 12345678 (Mutter)', '+493012345678'],
  ['DE', '+49 (0)30/12345678; 0171 1234567', '+493012345678'],
  ['US', 'h: 415-555-2671 c: 212-555-2368', '+14155552671'],
  ['RU', '8 912 345 67 89; 8 495 123 45 67', '+79123456789'],
  ['LU', '28 12 17', '+352281217'],
  // Dates that would be numbers.
  ['DE', '28. 12. 2017', null],
  ['DE', '1980-12-30', null],
  ['DK', '28 12 2017', null],
  ['DE', '28.12.1980, 0171 1234567', null],
  // Either +49 151 12345678 or +49 49151 12345678.
  ['DE', '4915112345678', null],
  // Digits that are left over, such as extensions.
  ['DE', '030 12345678 ext 5', null],
  ['GB', '07911 123456 after 6pm', null],
  ['US', '(415) 555-2671, 123', null],
  ['DE', 'DE89 3704 0044 0532 0130 00', null],
] as const)('of phone numbers with the country %s, %j is %s', (country, cell, number) => {
  const found = read(cell, (row) => row.phone('Cell', country))
  expect(found).toEqual(number ?? expect.stringContaining(`is neither a phone number of ${country}, such as`))
})
