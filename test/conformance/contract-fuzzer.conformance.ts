/**
 * Schemathesis derives requests from the API document, valid and invalid ones, and finds no server error and no response that
 * the document does not describe. It runs in `npm run prove`, where Python is available.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runStack } from '../support/local-stack.ts'
import { pythonTool } from './python-tool.ts'
import { runProgram } from './run-program.ts'

const REQUIREMENTS = join(import.meta.dirname, 'contract-fuzzer/requirements.txt')
const DOCUMENT = join(import.meta.dirname, '../../docs/openapi.json')

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'ignored_auth',
]

it('finds no response that the document does not describe', async ({ skip }) => {
  const python = pythonTool(REQUIREMENTS)
  if (python.missing !== undefined) return skip(python.missing)
  const seed = process.env.SEED ?? String(Math.floor(Math.random() * 2 ** 31))
  const stack = await runStack()
  const folder = mkdtempSync(join(tmpdir(), 'schemathesis-'))
  try {
    const { code, printed } = await runProgram(
      join(python.bin, 'schemathesis'),
      [
        ...['run', DOCUMENT, '--url', stack.api, '--checks', CHECKS.join(',')],
        ...[
          '--phases',
          'examples,coverage,fuzzing',
          '--max-examples',
          '30',
          '--seed',
          seed,
          '--continue-on-failure',
        ],
        ...['--header', `Authorization: Developer ${stack.clinics[0]?.credentials.full}`],
        // `--rate-limit auto` would wait for the next day once a limit of messages is reached.
        ...['--suppress-health-check', 'all', '--no-color'],
      ],
      { cwd: folder },
    )
    process.stdout.write(`seed ${seed}\n${printed.slice(printed.lastIndexOf('SUMMARY'))}\n`)
    expect([code, code === 0 ? '' : printed]).toEqual([0, ''])
  } finally {
    await stack.close()
    rmSync(folder, { recursive: true })
  }
})
