/** The published Python client (`wioclinic` on PyPI) works unmodified. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { REQUESTS, runSession } from './published-client/session.ts'
import { pythonTool } from './python-tool.ts'
import { runProgram } from './run-program.ts'

const FOLDER = join(import.meta.dirname, 'published-client')
const CALLS = join(FOLDER, 'calls.py')

it('every call succeeds, and sends the recorded request', async ({ skip }) => {
  const tool = pythonTool(join(FOLDER, 'requirements.txt'))
  if (tool.missing !== undefined) return skip(tool.missing)
  const python = join(tool.bin, 'python')
  const recorded = await runProgram(python, [CALLS, 'record'])
  expect(recorded.errors).toBe('')
  expect(JSON.parse(recorded.printed)).toEqual(REQUESTS)

  const { stack, values: given } = await runSession()
  try {
    const { key, secret, ...values } = given
    const input = JSON.stringify({ base_url: stack.api, key, secret, values })
    const { printed, errors } = await runProgram(python, [CALLS], { input })
    expect(errors).toBe('')
    const outcomes = printed.trim().split('\n')
    expect(outcomes.map((line) => JSON.parse(line))).toEqual(
      REQUESTS.map(({ call }) => ({ call, outcome: 'ok' })),
    )
  } finally {
    await stack.close()
  }
})
