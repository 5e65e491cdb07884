/**
 * `npm run openapi`: writes the API document, the error catalogue, the tables that repeat them, and the generated files of the
 * clients.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { generatedFiles } from './generated-files.ts'

const { check } = new Command('npm run openapi')
  .description(
    'Writes docs/openapi.json, docs/errors.json, the tables in the documentation that repeat them, and the generated files of the clients.',
  )
  .option('--check', 'write nothing, and fail if a file differs')
  .parse()
  .opts<{ check?: true }>()

const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '')
const changed = Object.entries(await generatedFiles(read)).filter(([file, content]) => read(file) !== content)
if (!check) for (const [file, content] of changed) writeFileSync(file, content)
else if (changed.length > 0) {
  process.stderr.write(
    `Run npm run openapi. These files differ: ${changed.map(([file]) => file).join(', ')}\n`,
  )
  process.exitCode = 1
}
