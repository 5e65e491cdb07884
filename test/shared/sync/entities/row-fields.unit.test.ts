import { expect, it } from 'vitest'
import { singleLineText } from '../../../../shared/domain/patients/text-fields.ts'
import { Instant, RowDate, rowText } from '../../../../shared/sync/entities/row-fields.ts'

it.each([
  ['Paid in cash\r\nand by card \n', 'Paid in cash and by card'],
  ['two  spaces', 'two  spaces'],
])('makes one line of %j', (cell, text) => {
  expect(rowText(singleLineText(30)).parse(cell)).toBe(text)
})

it.each([
  [RowDate, 31182],
  [RowDate, '31182'],
  [Instant, '45123.375'],
])("names a spreadsheet's day number for what it is", (field, value) => {
  expect(field.safeParse(value).error?.issues).toMatchObject([
    { message: "is a spreadsheet's day number; save the column as dates" },
  ])
})
