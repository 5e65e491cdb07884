/** `npm run openapi`: writes the API document and the error catalogue; with `-- --record`, from answers recorded anew. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { openapiDocument } from '../shared/api/openapi/document.ts'
import { errorCatalogue } from '../shared/api/openapi/error-catalogue.ts'
import type { Examples } from '../shared/api/openapi/examples.ts'
import { DOCUMENTS, withCurrentTables } from './openapi/tables.ts'

const EXAMPLES = 'bin/openapi/examples.json'

const { record } = new Command('npm run openapi --')
  .description(
    'Writes docs/openapi.json, docs/errors.json, and the tables in the documentation that repeat them.',
  )
  .option('--record', 'ask a local stack for the examples first', false)
  .parse()
  .opts<{ record: boolean }>()

const write = (file: string, content: unknown) => writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)

if (record) {
  const { recordExamples } = await import('./openapi/record.ts')
  write(EXAMPLES, await recordExamples())
  execFileSync('biome', ['format', '--write', EXAMPLES])
}
const examples = JSON.parse(readFileSync(EXAMPLES, 'utf8')) as Examples
write('docs/openapi.json', openapiDocument(examples))
write('docs/errors.json', errorCatalogue())
for (const file of DOCUMENTS) writeFileSync(file, withCurrentTables(file))
