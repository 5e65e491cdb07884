/** `npm run openapi`: writes the API document, the error catalogue, and the tables that repeat them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { openapiDocument } from '../shared/api/openapi/document.ts'
import { DOCUMENTS_WITH_TABLES, withCurrentTables } from '../shared/api/openapi/documentation-tables.ts'
import { errorCatalogue } from '../shared/api/openapi/error-catalogue.ts'

new Command('npm run openapi')
  .description(
    'Writes docs/openapi.json, docs/errors.json, and the tables in the documentation that repeat them.',
  )
  .parse()

const write = (file: string, content: unknown) => writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)

write('docs/openapi.json', openapiDocument())
write('docs/errors.json', errorCatalogue())
for (const file of DOCUMENTS_WITH_TABLES) writeFileSync(file, withCurrentTables(readFileSync(file, 'utf8')))
