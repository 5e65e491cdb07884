/** Tools of integrators take the API document without a warning: a linter, and a generator of Python clients. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, it } from 'vitest'
import { pythonTool } from './python-tool.ts'
import { runProgram } from './run-program.ts'

const DOCUMENT = join(import.meta.dirname, '../../docs/openapi.json')
const SPECTRAL = join(import.meta.dirname, '../../node_modules/.cache/conformance/spectral')

it('Spectral finds nothing', async ({ skip }) => {
  cpSync(join(import.meta.dirname, 'spectral'), SPECTRAL, { recursive: true })
  if (!existsSync(join(SPECTRAL, 'node_modules'))) {
    const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts'], {
      cwd: SPECTRAL,
      encoding: 'utf8',
    })
    if (status !== 0) return skip(`npm did not install Spectral: ${stderr.slice(-500)}`)
  }
  const { code, printed } = await runProgram(join(SPECTRAL, 'node_modules/.bin/spectral'), [
    'lint',
    DOCUMENT,
    `--ruleset=${join(SPECTRAL, 'ruleset.json')}`,
    '--fail-severity=hint',
    '--quiet',
  ])
  expect([code, printed.trim()]).toEqual([0, ''])
}, 1_200_000)

it('openapi-python-client generates a client without a warning', async ({ skip }) => {
  const python = pythonTool(join(import.meta.dirname, 'python-generator/requirements.txt'))
  if (python.missing !== undefined) return skip(python.missing)
  const folder = mkdtempSync(join(tmpdir(), 'python-client-'))
  try {
    // It formats its output with ruff, which it looks for in the PATH.
    const environment = { ...process.env, PATH: `${python.bin}${delimiter}${process.env.PATH}` }
    const { code, printed } = await runProgram(
      join(python.bin, 'openapi-python-client'),
      ['generate', '--path', DOCUMENT, '--output-path', join(folder, 'client'), '--fail-on-warning'],
      { environment },
    )
    expect([code, code === 0 ? '' : printed]).toEqual([0, ''])
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 1_200_000)
