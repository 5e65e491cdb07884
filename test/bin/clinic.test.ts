import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, inject, it } from 'vitest'

it('ends quietly when the reader of its output, such as head, does not wait for all of it', async () => {
  const tool = spawn(process.execPath, ['bin/clinic.ts', '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  tool.stdout.destroy()
  const errors = text(tool.stderr)
  expect([await once(tool, 'exit'), await errors]).toEqual([[0, null], ''])
})

it('runs the current code after any of its files has changed', () => {
  const project = mkdtempSync(join(inject('runFolder'), 'bundle-'))
  for (const folder of ['bin', 'node_modules']) mkdirSync(join(project, folder))
  for (const name of ['esbuild', '@esbuild'])
    symlinkSync(join(process.cwd(), 'node_modules', name), join(project, 'node_modules', name))
  copyFileSync('bin/clinic.mjs', join(project, 'bin/clinic.mjs'))
  const write = (file: string, text: string) => writeFileSync(join(project, file), text)
  write('package-lock.json', '{}')
  write('bin/clinic.ts', "import { text } from './text.ts'\nconsole.log(text)\n")
  const run = () =>
    execFileSync(process.execPath, [join(project, 'bin/clinic.mjs')], { encoding: 'utf8', stdio: 'pipe' })
  for (const text of ['one', 'two', 'one']) {
    write('bin/text.ts', `export const text = '${text}'\n`)
    expect([run(), run()]).toEqual([`${text}\n`, `${text}\n`])
  }
  write('bin/other.ts', "export const text = 'three'\n")
  write('bin/clinic.ts', "import { text } from './other.ts'\nconsole.log(text)\n")
  expect(run()).toBe('three\n')
  write('node_modules/.cache/clinic/inputs.json', '[')
  expect(run()).toBe('three\n')
  // An exit code of 1 would mean that a command is done.
  for (const failing of ['const = 1', 'await Promise.reject(new Error())', 'setTimeout(() => nothing())']) {
    write('bin/clinic.ts', failing)
    expect(run).toThrow(expect.objectContaining({ status: 4 }))
  }
})
