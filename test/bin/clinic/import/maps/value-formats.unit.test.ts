import { describe, expect, it } from 'vitest'
import {
  dateOf,
  isSignOf,
  readAmount,
  readDate,
  readDuration,
  readInstant,
  readTime,
  timeOf,
} from '../../../../../bin/clinic/import/maps/value-formats.ts'

const EN = { language: 'en', latest: '2046-12-31' }

describe('readDate', () => {
  it.each<[string, string[], string | null]>([
    ['1974-12-31', [], '1974-12-31'],
    ['31.12.1974', ['D.M.YYYY'], '1974-12-31'],
    ['1.2.1974', ['D.M.YYYY'], '1974-02-01'],
    ['1.2.1974', ['DD.MM.YYYY'], null],
    ['12/31/1974', ['M/D/YYYY'], '1974-12-31'],
    ['31/12/1974', ['M/D/YYYY'], null],
    ['31/12/1974', ['M/D/YYYY', 'D/M/YYYY'], '1974-12-31'],
    ['5 Sept 1974', ['D MMM YYYY'], '1974-09-05'],
    ['5 Foo 1974', ['D MMM YYYY'], null],
    ['31.2.1974', ['D.M.YYYY'], null],
    ['31.12.74', ['D.M.YYYY'], null],
    ['31x12x1974', ['D.M.YYYY'], null],
    ['31/12/74', ['D/M/YY'], '1974-12-31'],
    ['31.12.46', ['DD.MM.YY'], '2046-12-31'],
    ['01.01.47', ['DD.MM.YY'], '1947-01-01'],
    ['29.02.01', ['DD.MM.YY'], null],
  ])('%s by %j is %s', (text, dates, date) => {
    expect(readDate(text, { ...EN, dates })).toBe(date)
  })

  it.each([
    ['3 września 2026', 'pl', '2026-09-03'],
    ['3 wrz 2026', 'pl', '2026-09-03'],
    ['3 Mär. 2026', 'de', '2026-03-03'],
    ['3 févr. 2026', 'fr', '2026-02-03'],
    ['3 Ağustos 2026', 'tr', '2026-08-03'],
    ['3 če 2026', 'cs', null],
    ['3 čer 2026', 'cs', null],
  ])('%s in the language %s is %s', (text, language, date) => {
    expect(readDate(text, { ...EN, language, dates: ['D MMM YYYY'] })).toBe(date)
  })
})

it.each<[string, string[], string | null]>([
  ['09:30', [], '09:30'],
  ['09:30:59', [], '09:30'],
  ['9:30', [], null],
  ['9:30', ['H:mm'], '09:30'],
  ['9.30', ['H.mm'], '09:30'],
  ['9h30', ["H'h'mm"], '09:30'],
  ['14:30 Uhr', ["H:mm 'Uhr'"], '14:30'],
  ['12:05 am', ['h:mm a'], '00:05'],
  ['12:05PM', ['h:mma'], '12:05'],
  ['1:05 p.m.', ['h:mm a'], '13:05'],
  ['1:05 p. m.', ['h:mm a'], '13:05'],
  ['09:30:00.000', [], '09:30'],
  ['13:05 pm', ['h:mm a'], null],
  ['24:00', ['H:mm'], null],
  ['09:60', [], null],
])('readTime %s by %j is %s', (text, formats, time) => {
  expect(readTime(text, formats)).toBe(time)
})

describe('a date with a time', () => {
  const formats = {
    ...EN,
    dates: ['D/M/YYYY', 'D MMM YYYY'],
    times: ['h:mm a', 'HH:mm:ss Z'],
    timezone: 'Europe/Berlin',
  }
  it.each<[string, string | null, string | null, string | null]>([
    ['2026-03-29 09:00', '2026-03-29', '09:00', '2026-03-29T07:00:00.000Z'],
    ['2026-01-29T09:00:30', '2026-01-29', '09:00', '2026-01-29T08:00:30.000Z'],
    ['29/1/2026, 1:00 pm', '2026-01-29', '13:00', '2026-01-29T12:00:00.000Z'],
    ['29 Jan 2026 1:00 PM', '2026-01-29', '13:00', '2026-01-29T12:00:00.000Z'],
    ['2026-01-29 09:00:00 +1100', '2026-01-28', '23:00', '2026-01-28T22:00:00.000Z'],
    ['2026-06-29T22:30:00.000Z', '2026-06-30', '00:30', '2026-06-29T22:30:00.000Z'],
    ['2026-01-29 09:00:00 UTC', '2026-01-29', '10:00', '2026-01-29T09:00:00.000Z'],
    ['29/1/2026', '2026-01-29', null, '2026-01-28T23:00:00.000Z'],
    ['29/1/2026 noon', null, null, null],
    ['2026-01-29 09:00:00 +2400', null, null, null],
    ['2026-01-29 09:00:00 +0960', null, null, null],
  ])('%s', (text, date, time, instant) => {
    expect([dateOf(text, formats), timeOf(text, formats)]).toEqual([date, time])
    expect(readInstant(text, formats)).toBe(instant)
  })

  it.each([
    ['2026-12-01 09:00', '2026-12-01', '09:00', '2026-12-01T14:00:00.000Z'],
    ['2026-12-01T04:30:00Z', '2026-11-30', '23:30', '2026-12-01T04:30:00.000Z'],
    ['2026-03-08 02:30', '2026-03-08', '02:30', '2026-03-08T08:30:00.000Z'],
    ['2025-11-02 01:30', '2025-11-02', '01:30', '2025-11-02T06:30:00.000Z'],
  ])('%s has the offset of the table of zones', (text, date, time, instant) => {
    const inWinnipeg = { ...formats, timezone: 'America/Winnipeg' }
    expect([dateOf(text, inWinnipeg), timeOf(text, inWinnipeg)]).toEqual([date, time])
    expect(readInstant(text, inWinnipeg)).toBe(instant)
  })
})

it.each<[string, 'comma' | 'point', string | null]>([
  ['1.234,50', 'comma', '1234.50'],
  ['1234,5', 'comma', '1234.5'],
  ['1.234', 'comma', '1234'],
  ['12.34', 'comma', null],
  ['€ 12,00', 'comma', '12.00'],
  ['12,00 TL', 'comma', '12.00'],
  ['-12,00 €', 'comma', '-12.00'],
  ['1 234,50', 'comma', '1234.50'],
  ['$1,234.50', 'point', '1234.50'],
  ['1,23', 'point', null],
  ['12.50x', 'point', null],
  ['', 'point', null],
  ['.50', 'point', null],
  ['12.', 'point', null],
  ['$(12.50)', 'point', '-12.50'],
  ['(12.50) €', 'point', '-12.50'],
  ['((12.50))', 'point', null],
  ['(12.50))', 'point', null],
  [')12.50(', 'point', null],
  ['--12.50', 'point', null],
  ['1,234 567', 'point', null],
  ['12€50', 'comma', null],
  ['1.23.456', 'comma', null],
  ['12 50', 'comma', null],
  ['(12.50)', 'point', '-12.50'],
  ['($12.50)', 'point', '-12.50'],
  ['(12.50', 'point', null],
  ['12,50-', 'comma', '-12.50'],
  ['−12,50 zł', 'comma', '-12.50'],
  ['€ -12,50', 'comma', '-12.50'],
  ['(-12,50)', 'comma', null],
  ["CHF 1'234.50", 'point', '1234.50'],
  ['Fr. 12.50', 'point', '12.50'],
  ['₹12,34,567.50', 'point', '1234567.50'],
  ['1,23,456', 'point', '123456'],
  ['12,34', 'point', null],
  ['12,34,56', 'point', null],
  ['123,45,678', 'point', null],
  ['1\u202f234,50', 'comma', '1234.50'],
  ['1,2,5 €', 'comma', null],
  ['12,50 € 19 %', 'comma', null],
  ["12'50", 'comma', null],
  ['12²', 'comma', null],
  ['50\n100', 'comma', null],
  ['50\t100', 'point', null],
])('readAmount %j with a decimal %s is %s', (text, decimal, amount) => {
  expect(readAmount(text, decimal, (unit) => unit !== 'x')).toBe(amount)
})

it.each([
  ['EUR', ['EUR', 'eur', '€'], ['$', 'US$', '£', 'USD', 'EU', 'CHF', 'TL', 'zł', 'DM', 'kr']],
  ['EUR', [], ['%', '％', '٪', '‰', 'h', 'min', 'Stk', '€%']],
  ['USD', ['USD', '$', 'US$'], ['€', 'C$', 'CAD', 'R$']],
  ['CAD', ['CAD', '$', 'CA$'], ['US$', 'USD', '€']],
  ['CHF', ['CHF', 'Fr', 'SFr', 'fr'], ['F', '€']],
  ['TRY', ['TRY', 'TL', '₺'], ['€', 'T']],
  ['PLN', ['PLN', 'zł', 'ZŁ'], ['z', 'Kč']],
  ['CZK', ['CZK', 'Kč'], ['kr']],
  ['SEK', ['SEK', 'kr'], ['NOK', 'Kč']],
  ['HUF', ['HUF', 'Ft'], ['F']],
  ['RON', ['RON', 'lei'], ['lev']],
  ['ZAR', ['ZAR', 'R'], ['R$', 'Rs']],
  ['BRL', ['BRL', 'R$'], ['R', '$']],
  ['JPY', ['JPY', '¥', '円'], ['€', '元']],
  ['KRW', ['원'], ['円']],
  ['CNY', ['元'], ['円']],
  ['RUB', ['руб', 'р'], ['грн']],
  ['UAH', ['грн'], ['руб']],
  ['INR', ['Rs', '₹'], ['R']],
  ['ILS', ['ILS', '₪'], ['€']],
  ['BGN', ['лв'], ['ден']],
  ['PEN', ['S/'], ['$', 'Br']],
  ['DOP', ['RD$', '$'], ['US$']],
  ['KES', ['KSh'], ['Sh.So.']],
])('isSignOf knows how %s is written', (currency, own, foreign) => {
  const isSign = isSignOf(currency)
  expect(own.filter((unit) => !isSign(unit))).toEqual([])
  expect(foreign.filter(isSign)).toEqual([])
})

it.each<[string, number | null]>([
  ['45', 45],
  ['45 min', 45],
  ["45'", 45],
  ['1:30', 90],
  ['00:45:00', 45],
  ['1 h 30 min', 90],
  ['1,5 Std.', 90],
  ['1 godz. 15 min', 75],
  ['PT1H5M', 65],
  ['2 Stunden', 120],
  ['2 hrs', 120],
  ['2 horas 5 minutos', 125],
  ['1 uur', 60],
  ['1 saat 10 dk', 70],
  ['30m', 30],
  ['45 mg', null],
  ['3 months', null],
  ['2 units', null],
  ['2 sachets', null],
  ['45 %', null],
  ['45 €', null],
  ['soon', null],
  ['', null],
])('readDuration %j is %s minutes', (text, minutes) => {
  expect(readDuration(text)).toBe(minutes)
})
