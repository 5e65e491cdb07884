import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { RejectedRows, rejectedFile } from '../../../../../bin/clinic/import/files/rejections.ts'
import { openRows } from '../../../../../bin/clinic/import/files/rows.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'

const folder = temporaryFolder()
const file = join(folder, 'patients.csv')
const rejected = rejectedFile(file)
beforeEach(() => writeFileSync(rejected, 'of an earlier run'))

const format = {
  kind: 'csv' as const,
  encoding: 'utf-8',
  hasSeparatorLine: false,
  delimiter: ',',
  header: ['external_id', 'rejected_because', 'first_name'],
  headerLine: 1,
}
const row = { line: 2, values: {}, cells: ['1', 'an earlier one', '=1+1, "b"'] }

it.each([
  ['patients.csv', 'patients.rejected.csv'],
  ['patients.rejected.csv', 'patients.rejected-2.csv'],
  ['visits.rejected-2.txt', 'visits.rejected-3.txt'],
])('the rejected rows of %s are in %s', (name, expected) => {
  expect(rejectedFile(name)).toBe(expected)
})

it('replaces the file of an earlier run once all rows are in, for its owner alone, each row once', () => {
  using rows = new RejectedRows({ file, format })
  rows.add({ line: 3, problem: '', text: '2,"x' }, 'not closed')
  rows.add(row, 'too long')
  rows.add(row, 'unknown')
  expect(readFileSync(rejected, 'utf8')).toBe('of an earlier run')
  rows.finish()
  expect(readFileSync(rejected, 'utf8')).toBe(
    '\uFEFFexternal_id,first_name,rejected_because\n1,"\'=1+1, ""b""",too long; unknown\n"2,""x",,not closed\n',
  )
  expect(statSync(rejected).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['patients.rejected.csv'])
})

it('protects names of columns so that an import reads the same names', async () => {
  const header = ['@id', '=sum', "'-x"]
  using rows = new RejectedRows({ file, format: { ...format, header } })
  rows.add({ ...row, cells: ['1', '2', '3'] }, 'too long')
  rows.finish()
  expect(readFileSync(rejected, 'utf8')).toMatch(/^\uFEFF'@id,'=sum,''-x,rejected_because\n/)
  const again = await openRows(rejected, undefined)
  await again.close()
  expect(again.format).toMatchObject({ header: [...header, 'rejected_because'] })
})
