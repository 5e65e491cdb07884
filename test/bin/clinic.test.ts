import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

it('ends quietly when the reader of its output, such as head, does not wait for all of it', async () => {
  const tool = spawn(process.execPath, ['bin/clinic.ts', '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  tool.stdout.destroy()
  const errors = text(tool.stderr)
  expect([await once(tool, 'exit'), await errors]).toEqual([[0, null], ''])
})

it('exits with 4 when it fails before a command runs: 1 would mean that a command is done', () => {
  const failing = `Object.defineProperty(process, 'stdin', { get() { throw new Error('defect') } })`
  const options = ['--import', `data:text/javascript,${encodeURIComponent(failing)}`]
  const { status, stderr } = spawnSync(process.execPath, [...options, 'bin/clinic.ts', '--help'])
  expect([status, String(stderr)]).toEqual([4, expect.stringContaining('defect')])
})
