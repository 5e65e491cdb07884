/** `npm run openapi`: writes the API document and the error catalogue; with `-- --record`, records their examples first. */
import { readFileSync, writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { openapiDocument } from '../shared/api/openapi/document.ts'
import { errorCatalogue } from '../shared/api/openapi/error-catalogue.ts'
import type { Examples } from '../shared/api/openapi/examples.ts'
import { formattedRecording } from './openapi/formatted-recording.ts'
import { DOCUMENTS, withCurrentTables } from './openapi/tables.ts'

const EXAMPLES = 'bin/openapi/examples.json'

const { record, check } = new Command('npm run openapi --')
  .description(
    'Writes docs/openapi.json, docs/errors.json, and the tables in the documentation that repeat them.',
  )
  .option('--record', 'record the examples from a local stack first', false)
  .option('--check', 'write nothing; fail if recording the examples would change them', false)
  .parse()
  .opts<{ record: boolean; check: boolean }>()

const write = (file: string, content: unknown) => writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)

if (check) {
  if (formattedRecording(EXAMPLES) !== readFileSync(EXAMPLES, 'utf8')) {
    process.stderr.write(`${EXAMPLES} is out of date. Run npm run openapi -- --record.\n`)
    process.exitCode = 1
  }
} else {
  if (record) writeFileSync(EXAMPLES, formattedRecording(EXAMPLES))
  write('docs/openapi.json', openapiDocument(JSON.parse(readFileSync(EXAMPLES, 'utf8')) as Examples))
  write('docs/errors.json', errorCatalogue())
  for (const file of DOCUMENTS) writeFileSync(file, withCurrentTables(file))
}
