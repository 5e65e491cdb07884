import { openapiDocument } from '../shared/api/openapi/document.ts'
import { DOCUMENTS_WITH_TABLES, withCurrentTables } from '../shared/api/openapi/documentation-tables.ts'
import { errorCatalogue } from '../shared/api/openapi/error-catalogue.ts'
import { type ApiDocument, pythonClient } from '../shared/clients/python/generator.ts'

/** The content of every file that `npm run openapi` writes, by path. `read` reads a file of the repository. */
export function generatedFiles(read: (file: string) => string): Record<string, string> {
  const document = openapiDocument()
  return {
    'docs/openapi.json': json(document),
    'docs/errors.json': json(errorCatalogue()),
    ...Object.fromEntries(DOCUMENTS_WITH_TABLES.map((file) => [file, withCurrentTables(read(file))])),
    ...pythonClient(document as ApiDocument, read),
  }
}

const json = (content: unknown) => `${JSON.stringify(content, null, 2)}\n`
