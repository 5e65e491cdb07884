import { expect, it } from 'vitest'
import { rowText } from '../../../../../bin/clinic/import/entities/row-fields.ts'
import { singleLineText } from '../../../../../shared/domain/patients/text-fields.ts'

it.each([
  ['Paid in cash\r\nand by card \n', 'Paid in cash and by card'],
  ['two  spaces', 'two  spaces'],
])('makes one line of %j', (cell, text) => {
  expect(rowText(singleLineText(30)).parse(cell)).toBe(text)
})
