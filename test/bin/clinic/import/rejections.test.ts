import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { rejectedFile, rejectionWriter } from '../../../../bin/clinic/import/rejections.ts'

const folder = mkdtempSync(join(tmpdir(), 'rejections-test-'))
const file = join(folder, 'patients.csv')
const rejected = rejectedFile(file)
beforeEach(() => writeFileSync(rejected, 'of an earlier run'))
afterAll(() => rmSync(folder, { recursive: true }))

const format = {
  ...{ kind: 'csv' as const, encoding: 'utf-8' as const, hasMark: false, hasSeparatorLine: false },
  ...{ delimiter: ',', header: ['external_id', 'reason', 'first_name'], headerLine: 1 },
}
const row = { line: 2, values: {}, cells: ['1', 'an earlier one', 'a, "b"'] }

it('replaces the file of an earlier run once it is complete, for its owner alone', async () => {
  await using writer = rejectionWriter(file, format)
  await writer.write(row, 'too long')
  await writer.write({ line: 3, problem: '', text: '2,"x' }, 'not closed')
  expect(readFileSync(rejected, 'utf8')).toBe('of an earlier run')
  expect(statSync(`${rejected}.unfinished`).mode & 0o777).toBe(0o600)
  await writer.finish()
  expect(readFileSync(rejected, 'utf8')).toBe(
    'external_id,first_name,reason\n1,"a, ""b""",too long\n"2,""x",,not closed\n',
  )
  expect(statSync(rejected).mode & 0o777).toBe(0o600)
})

it('leaves nothing but the file of an earlier run if it is not completed', async () => {
  {
    await using writer = rejectionWriter(file, format)
    await writer.write(row, 'too long')
  }
  expect(readdirSync(folder)).toEqual(['patients.rejected.csv'])
  expect(readFileSync(rejected, 'utf8')).toBe('of an earlier run')
})

it('deletes the file of an earlier run if no row is rejected', async () => {
  await using writer = rejectionWriter(file, format)
  await writer.finish()
  expect(existsSync(rejected)).toBe(false)
})
