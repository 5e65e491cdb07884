/**
 * The Python client: its wheel passes its own tests, against a local stack too. `npm run prove` also runs the oldest supported
 * Python, the type checkers, and installs the wheel as integrators do.
 */
import { globSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { endpointsOf } from '../../shared/openapi/read-document.ts'
import { pythonSample } from '../../shared/reference/samples.ts'
import { type RunningStack, runStack } from '../support/local-stack.ts'
import { pythonTool } from './python-tool.ts'
import { runProgram } from './run-program.ts'

const CLIENT = resolve('shared/clients/python')
const EXHAUSTIVE = process.env.EXHAUSTIVE === '1'

/** Of a test, and of each program in it: enough beside eight other processes on two cores. */
const TEST_MS = EXHAUSTIVE ? 3_600_000 : 600_000
const PROGRAM_MS = TEST_MS / 4

let stack: RunningStack
beforeAll(async () => {
  stack = await runStack()
}, TEST_MS)
afterAll(() => stack.close())

async function run(program: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { code, printed, errors } = await runProgram(program, args, {
    cwd: CLIENT,
    environment: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
    timeoutMs: PROGRAM_MS,
  })
  expect([code, printed, errors]).toEqual([0, expect.anything(), expect.anything()])
  return printed
}

it.for(EXHAUSTIVE ? ['3.9', '3.11'] : ['3'])(
  'its wheel passes its tests with Python %s',
  { timeout: TEST_MS },
  async (version, { skip }) => {
    const tool = pythonTool(join(CLIENT, 'tests/requirements.txt'), version)
    if (tool.missing !== undefined) return skip(tool.missing)
    const python = join(tool.bin, 'python')
    const folder = mkdtempSync(join(inject('runFolder'), 'python-client-'))
    const site = join(folder, 'site')

    await run(python, ['-m', 'build', '--wheel', '--no-isolation', '--outdir', folder])
    const [wheel = ''] = globSync(join(folder, '*.whl'))
    expect(statSync(wheel).size).toBeLessThan(150_000)
    await run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', site, wheel])

    const types = EXHAUSTIVE ? [] : ['--ignore=tests/test_types.py']
    const printed = await run(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests', ...types], {
      PYTHONPATH: site,
      API: stack.api,
      CREDENTIAL: stack.clinics[0]?.credentials.full ?? '',
    })
    process.stdout.write(`${/^import httpx.*$/m.exec(printed)?.[0]}\n`)

    if (!EXHAUSTIVE) return
    await run(python, ['-m', 'venv', join(folder, 'clean')])
    const clean = join(folder, 'clean/bin/python')
    await run(clean, ['-m', 'pip', 'install', '--quiet', wheel])
    await run(clean, ['-c', 'from clinic_developer import AsyncClient, Client, models'])
  },
)

it('the samples of the reference are right', async ({ skip }) => {
  const tool = pythonTool(join(CLIENT, 'tests/requirements.txt'))
  if (tool.missing !== undefined) return skip(tool.missing)
  const folder = mkdtempSync(join(inject('runFolder'), 'python-samples-'))
  const files = endpointsOf(JSON.parse(readFileSync('docs/openapi.json', 'utf8')).paths).map((endpoint) => {
    const file = join(folder, `${endpoint.operation.operationId.replaceAll('-', '_')}.py`)
    writeFileSync(file, pythonSample(endpoint))
    return file
  })
  expect(files.length).toBeGreaterThan(40)
  await run(
    join(tool.bin, 'python'),
    ['-m', 'mypy', '--strict', '--cache-dir', join(folder, 'cache'), ...files],
    {
      MYPYPATH: join(CLIENT, 'src'),
    },
  )
})
