import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

it('ends quietly when the reader of its output, such as head, does not wait for all of it', async () => {
  const tool = spawn(process.execPath, ['bin/clinic.ts', '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  tool.stdout.destroy()
  const errors = text(tool.stderr)
  expect([await once(tool, 'exit'), await errors]).toEqual([[0, null], ''])
})
