import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cellsOf, cellValue, cellWriter } from '../../../../../bin/clinic/import/files/csv-cells.ts'
import { property } from '../../../../support/scale.ts'

const write = cellWriter(',;\t')
const read = (line: string) => cellsOf(line, ',').cells?.map(cellValue)

describe('cellWriter', () => {
  it.each([
    ['=HYPERLINK("https://x.example","Total")', `"'=HYPERLINK(""https://x.example"",""Total"")"`],
    ['+1+1', "'+1+1"],
    ['-2+3', "'-2+3"],
    ['@SUM(1)', "'@SUM(1)"],
    ['\t=1', `"'\t=1"`],
    ['\r=1', `"'\r=1"`],
    ["'=1", "''=1"],
    ['="007"', `"'=""007"""`],
    ['+905321112233', '+905321112233'],
    ['-5.50', '-5.50'],
    ["O'Neil = 1", "O'Neil = 1"],
  ])('writes %j as %j', (value, cell) => {
    expect(write(value)).toBe(cell)
    expect(read(`1,${cell},x`)).toEqual(['1', value, 'x'])
  })

  it('writes any text so that an import reads the same, and no spreadsheet runs it', () => {
    const text = fc.string({ unit: fc.constantFrom(...'=+-@\'"\t\r;,1a '), maxLength: 8 })
    const roundTrip = fc.property(fc.array(text, { minLength: 2, maxLength: 4 }), (values) => {
      expect(read(values.map(write).join(','))).toEqual(values)
    })
    fc.assert(roundTrip, property(500, 100_000))
  })
})
