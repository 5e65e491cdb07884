import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorsPage } from '../../shared/reference/errors-page.ts'
import { type Assets, referencePage } from '../../shared/reference/reference-page.ts'

/** The file in functions/ that serves the API document and the reference page. */
export const REFERENCE = 'reference'

const PROJECT = join(import.meta.dirname, '../..')
const RENDERER_DIRECTORY = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

/** Scripts and styles, by their names in the pages. */
const ASSETS: Record<keyof Assets, string> = {
  rendererScript: join(RENDERER_DIRECTORY, 'swagger-ui-bundle.js'),
  rendererStyle: join(RENDERER_DIRECTORY, 'swagger-ui.css'),
  script: join(PROJECT, 'shared/reference/page/reference.js'),
  style: join(PROJECT, 'shared/reference/page/reference.css'),
}

/** Writes the files that the function serves. Names of scripts and styles contain a hash of their content. */
export function writeReferenceFiles(directory: string): void {
  const write = (path: string, content: string): void => writeFileSync(join(directory, path), content)
  const document = read(join(PROJECT, 'docs/openapi.json'))
  const catalogue = read(join(PROJECT, 'docs/errors.json'))
  mkdirSync(join(directory, 'docs'), { recursive: true })
  const assets = Object.fromEntries(
    Object.entries(ASSETS).map(([name, file]) => {
      const content = stripSourceMap(read(file))
      const hashedFile = hashedName(file, content)
      write(join('docs', hashedFile), content)
      return [name, hashedFile]
    }),
  ) as Assets
  // Whitespace is a third of the committed document.
  write('openapi.json', JSON.stringify(JSON.parse(document)))
  write('errors.json', catalogue)
  write('docs.html', referencePage(JSON.parse(document), assets))
  write('docs/errors.html', errorsPage(JSON.parse(catalogue), assets))
  write('docs/licences.txt', licences())
}

const read = (file: string): string => readFileSync(file, 'utf8')

/** Source maps are not served, so browsers must not request them. */
const stripSourceMap = (content: string): string =>
  content.replace(/\n?\/[/*]# sourceMappingURL=\S+( \*\/)?\s*$/, '\n')

function hashedName(file: string, content: string): string {
  const extension = extname(file)
  const name = file.slice(file.lastIndexOf('/') + 1, -extension.length)
  return `${name}.${createHash('sha256').update(content).digest('hex').slice(0, 16)}${extension}`
}

/** The licences of the bundled renderer, which require that their text is distributed with it. */
const licences = (): string =>
  ['NOTICE', 'LICENSE', 'swagger-ui-bundle.js.LICENSE.txt']
    .map((name) => read(join(RENDERER_DIRECTORY, name)).trim())
    .join('\n\n')
