/** cfn-lint finds nothing in the templates of any combination. It runs in `npm run prove`, where Python is available. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { COMBINATIONS } from '../support/combinations.ts'
import { combinedTemplates } from '../support/template.ts'
import { pythonTool } from './python-tool.ts'
import { runProgram } from './run-program.ts'

const REQUIREMENTS = join(import.meta.dirname, 'cfn-lint/requirements.txt')

it('finds nothing in the templates of any combination', async ({ skip }) => {
  const python = pythonTool(REQUIREMENTS)
  if (python.missing !== undefined) return skip(python.missing)
  const folder = mkdtempSync(join(tmpdir(), 'templates-'))
  try {
    const templates = new Set(
      COMBINATIONS.flatMap((combination) =>
        Object.values(combinedTemplates(combination)).map((template) => JSON.stringify(template)),
      ),
    )
    const files = [...templates].map((template, index) => {
      const file = join(folder, `${index}.json`)
      writeFileSync(file, template)
      return file
    })
    const { code, printed } = await runProgram(join(python.bin, 'cfn-lint'), files)
    expect([code, printed]).toEqual([0, ''])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
