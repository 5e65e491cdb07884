import { describe, expect, it } from 'vitest'
import { countryOf, guessFormats } from '../../../../../bin/clinic/import/maps/guess-formats.ts'
import { readAmount, readDate, timeOf } from '../../../../../bin/clinic/import/maps/value-formats.ts'

const column = (...values: string[]) => ({ name: 'x', values, distinct: null, isUnique: true, files: [] })

describe('the formats of dates', () => {
  it.each<[string[], string[], string[], boolean]>([
    [['03.05.45', '30.1.02'], ['D.M.YY'], [], true],
    [['1. 3. 2025', '12. 3. 2025'], ['D. M. YYYY'], [], true],
    [['1974.02.01.'], ['YYYY.M.D.'], [], true],
    [['1/2/2025', '31/2/2025'], ['D/M/YYYY'], [], true],
    [['1/2/2025', '2/28/2025'], ['M/D/YYYY'], [], true],
    [['1/2/2025', '2/3/2025'], ['D/M/YYYY'], [], false],
    [['1/2/2025 1:05 PM'], ['M/D/YYYY'], ['h:mm a'], false],
    [['3 mars 2025', '4 févr. 2025'], ['D MMM YYYY'], [], true],
    [['Jan 7, 2025 6:05 PM', 'Mar 31, 2025 9:00 AM'], ['MMM D, YYYY'], ['h:mm a'], true],
    [['2025-03-01T09:00:00+01:00'], [], ['H:mm:ssZ'], true],
    [['2025-03-01 9:00'], [], ['H:mm'], true],
    [['9h00', '14h30'], [], ["H'h'mm"], true],
    [['9:00 Uhr'], [], ["H:mm 'Uhr'"], true],
    [['soon', 'later'], [], [], true],
  ])('of %j are %j and %j', (values, dates, times, isSure) => {
    const columns = [column(...values)]
    const found = guessFormats(columns, [], columns)
    expect(found).toMatchObject({ dates, times, isSure })
    const formats = { ...found, language: 'fr', latest: '2046-12-31', timezone: 'Europe/Berlin' }
    if (dates.length > 0 && times.length === 0) expect(readDate(values[0] ?? '', formats)).not.toBeNull()
    if (times.length > 0) expect(timeOf(values[0] ?? '', formats)).toMatch(/^\d\d:\d\d$/)
  })

  it('follow the dates of other columns where their own do not tell', () => {
    const own = column('1/2/2025')
    expect(guessFormats([own], [], [own, column('12/31/1974')]).dates).toEqual(['M/D/YYYY'])
  })
})

it.each<[string[], 'comma' | 'point']>([
  [['1.234,50 €', '12,5'], 'comma'],
  [['$1,234.50', '($5.00)'], 'point'],
  [['1 100,50 zł'], 'comma'],
  [['1.234', '5.000', '10,00'], 'comma'],
  [['100', '200'], 'point'],
])('amounts such as %j have a decimal %s', (values, decimal) => {
  expect(guessFormats([], [column(...values)], []).decimal).toBe(decimal)
  for (const value of values) expect(readAmount(value, decimal, () => true)).not.toBeNull()
})

it.each([
  ['(212) 555-0101', 'US'],
  ['07400 123456', 'GB'],
  ['07400123456', 'GB'],
  ['0871234567', 'IE'],
  ['089 682 1734', 'IE'],
  ['0412 345 678', 'AU'],
  ['(11) 91234-5678', 'BR'],
  ['+49 171 1234567', 'US'],
  ['0171 1234567', undefined],
])('the country of %s is %s', (number, country) => {
  expect(countryOf([column(number)], ['US', 'GB', 'IE', 'AU', 'BR'])).toBe(country)
})
