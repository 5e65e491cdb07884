import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { rowsFile, rowsWriter } from '../../../../../bin/clinic/import/files/rejections.ts'
import { openRows } from '../../../../../bin/clinic/import/files/rows.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'

const folder = temporaryFolder()
const file = join(folder, 'patients.csv')
const rejected = rowsFile(file, 'rejected')
beforeEach(() => writeFileSync(rejected, 'of an earlier run'))

const format = {
  kind: 'csv' as const,
  encoding: 'utf-8',
  hasSeparatorLine: false,
  delimiter: ',',
  header: ['external_id', 'reason', 'first_name'],
  headerLine: 1,
}
const unfinishedFiles = () => readdirSync(folder).filter((name) => name !== 'patients.rejected.csv')
const row = { line: 2, values: {}, cells: ['1', 'an earlier one', '=1+1, "b"'] }

it.each([
  ['patients.csv', 'rejected', undefined, 'patients.rejected.csv'],
  ['patients.rejected.csv', 'rejected', undefined, 'patients.rejected-2.csv'],
  ['patients.rejected-2.csv', 'rejected', undefined, 'patients.rejected-3.csv'],
  ['patients.rejected.csv', 'left-out', undefined, 'patients.rejected.left-out.csv'],
  ['visits.txt', 'left-out', 'patients', 'visits.patients.left-out.txt'],
  ['visits.patients.rejected.txt', 'rejected', 'patients', 'visits.patients.rejected-2.txt'],
] as const)('of %s, the rows that are %s (%s) are in %s', (name, kind, entity, expected) => {
  expect(rowsFile(name, kind, entity)).toBe(expected)
})

it('replaces the file of an earlier run once it is complete, for its owner alone', async () => {
  await using writer = rowsWriter(rejected, format, () => false)
  await writer.write(row, 'too long')
  await writer.write({ line: 3, problem: '', text: '2,"x' }, 'not closed')
  expect(readFileSync(rejected, 'utf8')).toBe('of an earlier run')
  const [unfinished = ''] = unfinishedFiles()
  expect(statSync(join(folder, unfinished)).mode & 0o777).toBe(0o600)
  await writer.finish()
  expect(readFileSync(rejected, 'utf8')).toBe(
    '\uFEFFexternal_id,first_name,reason\n1,"\'=1+1, ""b""",too long\n"2,""x",,not closed\n',
  )
  expect(statSync(rejected).mode & 0o777).toBe(0o600)
})

it('leaves nothing but the file of an earlier run if it is not completed', async () => {
  {
    await using writer = rowsWriter(rejected, format, () => false)
    await writer.write(row, 'too long')
  }
  expect(readdirSync(folder)).toEqual(['patients.rejected.csv'])
  expect(readFileSync(rejected, 'utf8')).toBe('of an earlier run')
})

it('protects names of columns so that an import reads the same names', async () => {
  const header = ['@id', '=sum', "'-x"]
  await using writer = rowsWriter(rejected, { ...format, header }, () => false)
  await writer.write({ ...row, cells: ['1', '2', '3'] }, 'too long')
  await writer.finish()
  expect(readFileSync(rejected, 'utf8')).toMatch(/^\uFEFF'@id,'=sum,''-x,reason\n/)
  const again = await openRows(rejected, undefined)
  await again.close()
  expect(again.format).toMatchObject({ header: [...header, 'reason'] })
})

it('deletes the file of an earlier run if no row is rejected', async () => {
  await using writer = rowsWriter(rejected, format, () => false)
  await writer.finish()
  expect(existsSync(rejected)).toBe(false)
})

it('is complete for each of two imports of one file at once', async () => {
  await using one = rowsWriter(rejected, format, () => false)
  await using two = rowsWriter(rejected, format, () => false)
  await one.write(row, 'of one')
  await two.write(row, 'of two')
  await one.write(row, 'of one')
  await one.finish()
  expect(readFileSync(rejected, 'utf8').match(/of \w+/g)).toEqual(['of one', 'of one'])
  await two.write(row, 'of two')
  await two.finish()
  expect(readFileSync(rejected, 'utf8').match(/of \w+/g)).toEqual(['of two', 'of two'])
  expect(unfinishedFiles()).toEqual([])
})

it.each([
  [['SIGTERM'], 143],
  [['SIGHUP'], 129],
  [['SIGINT', 'SIGINT'], 130],
])('says that it stopped, and leaves nothing unfinished, when the process gets %j', (signals, status) => {
  const tool = new URL('../../../../../bin/clinic/', import.meta.url)
  const program = `
    const { interruptible } = await import('${tool}import/run/import-with-progress.ts')
    const { rowsWriter } = await import('${tool}import/files/rejections.ts')
    using interruption = interruptible(() => console.log('stopped'))
    const writer = rowsWriter(${JSON.stringify(rejected)}, ${JSON.stringify(format)}, () => false)
    await writer.write(${JSON.stringify(row)}, 'too long')
    const { readdirSync } = await import('node:fs')
    console.log(readdirSync(${JSON.stringify(folder)}).length)
    for (const name of ${JSON.stringify(signals)}) {
      process.kill(process.pid, name)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    // A busy process handles a signal later.
    await new Promise((resolve) => setTimeout(resolve, 10_000))`
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  expect([ended.stdout, ended.status]).toEqual(['2\nstopped\n', status])
  expect(unfinishedFiles()).toEqual([])
})
