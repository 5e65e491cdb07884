import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

const run = (file: string, ...args: string[]) =>
  spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' })

it.each(['bin/smoke.ts', 'bin/preflight.ts'])(
  '%s prints its usage with --help, and with a wrong option',
  (file) => {
    const usage = expect.stringContaining('usage: npm run ')
    expect(run(file, '--help')).toMatchObject({ status: 0, stdout: usage, stderr: '' })
    const wrong = run(file, '--wrong')
    expect(wrong).toMatchObject({ status: 2, stdout: '', stderr: usage })
    expect(wrong.stderr).toContain('--wrong')
    expect(wrong.stderr).not.toContain('    at ')
  },
)
