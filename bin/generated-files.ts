import { pythonClient } from '../shared/clients/python/generator.ts'
import { openapiDocument } from '../shared/openapi/document.ts'
import { DOCUMENTS_WITH_TABLES, withCurrentTables } from '../shared/openapi/documentation-tables.ts'
import { publishedErrors } from '../shared/openapi/published-errors.ts'
import type { ApiDocument } from '../shared/openapi/read-document.ts'
import { commandTables } from './command-tables.ts'
import { importTable } from './import-table.ts'
import { typescriptClient } from './typescript-client.ts'

const COMMANDS_PAGE = 'docs/operate/commands.md'
const IMPORT_PAGE = 'docs/import.md'

/** The content of every file that `npm run openapi` writes, by path. `read` reads a file of the repository. */
export async function generatedFiles(read: (file: string) => string): Promise<Record<string, string>> {
  const document = openapiDocument()
  return {
    'docs/openapi.json': json(document),
    'docs/errors.json': json(publishedErrors()),
    ...Object.fromEntries(DOCUMENTS_WITH_TABLES.map((file) => [file, withCurrentTables(read(file))])),
    [COMMANDS_PAGE]: withCurrentTables(read(COMMANDS_PAGE), await commandTables()),
    [IMPORT_PAGE]: withCurrentTables(read(IMPORT_PAGE), { columns: importTable() }),
    ...pythonClient(document as ApiDocument, read),
    'shared/clients/typescript/resources.ts': typescriptClient(document as ApiDocument),
  }
}

const json = (content: unknown) => `${JSON.stringify(content, null, 2)}\n`
