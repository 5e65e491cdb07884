import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync, transformSync } from 'esbuild'
import { BASE_PATH } from '../../shared/api/route.ts'
import { type Assets, neighbours, shell } from '../../shared/reference/html.ts'
import { docsPages, EXAMPLES, NOT_FOUND, type Page } from '../../shared/reference/pages.ts'
import { renderMarkdown } from '../../shared/reference/render.ts'
import { searchIndex } from '../../shared/reference/search.ts'

export const PROJECT = join(import.meta.dirname, '../..')
const SCRIPTS = join(PROJECT, 'shared/reference/page')

/** Writes the files that the function serves. Names of scripts and styles contain a hash of their content. */
export function writeReferenceFiles(directory: string): void {
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  const document = JSON.parse(read(join(PROJECT, 'docs/openapi.json')))
  const pages = docsPages(document, (file) => read(join(PROJECT, file)))
  const assets = Object.fromEntries(
    Object.entries(assetsOf(pages)).map(([name, { file, content }]) => {
      const hashedFile = hashedName(file, content)
      write(join('docs', hashedFile), content)
      return [name, hashedFile]
    }),
  ) as Assets
  const api = BASE_PATH.slice(1)
  for (const page of [...pages, NOT_FOUND]) {
    const contents = renderMarkdown(page, neighbours(page, pages))
    write(
      page.path === '' ? 'docs.html' : `docs/${page.path}.html`,
      shell({ page, pages, assets, api, contents }),
    )
    // The HTML of the first page is above the other pages, and its Markdown is next to them.
    if (page.path === '') write('docs/index.md', page.markdown.replaceAll('](docs/', ']('))
    else write(`docs/${page.path}.md`, page.markdown)
  }
  cpSync(join(PROJECT, 'docs', EXAMPLES), join(directory, 'docs', EXAMPLES), { recursive: true })
  write('docs/llms.txt', pageList(pages))
  // Whitespace is a third of the committed document.
  write('openapi.json', JSON.stringify(document))
  write('errors.json', read(join(PROJECT, 'docs/errors.json')))
  write('docs/licences.txt', licences())
}

/** Scripts, styles and the search index, by their names in the pages. */
function assetsOf(
  pages: readonly Page[],
): Record<keyof Assets, { readonly file: string; readonly content: string }> {
  const asset = (file: string, content = minified(file)) => ({ file, content })
  return {
    script: asset(join(SCRIPTS, 'docs.js')),
    searchIndex: asset('search-index.json', searchIndex(pages)),
    searchScript: asset('search.js', searchScript()),
    style: asset(join(SCRIPTS, 'docs.css')),
    tryScript: asset(join(SCRIPTS, 'try.js')),
  }
}

/** A script or style without comments and spaces. */
const minified = (file: string): string =>
  transformSync(read(file), { loader: file.endsWith('.css') ? 'css' : 'js', minify: true }).code

/** The search with its library, as a module. */
function searchScript(): string {
  const entryPoints = [join(SCRIPTS, 'search.js')]
  const { outputFiles } = buildSync({ entryPoints, bundle: true, format: 'esm', minify: true, write: false })
  return outputFiles[0]?.text ?? ''
}

/** All pages with their addresses as Markdown, for programs that read documentation. */
const pageList = (pages: readonly Page[]): string =>
  [
    '# Clinic Developer API',
    '',
    ...[...Map.groupBy(pages, ({ group }) => group)].flatMap(([group, members]) => [
      `## ${group}`,
      '',
      ...members.map(({ path, title }) => `- [${title}](${path || 'index'}.md)`),
      '',
    ]),
  ].join('\n')

const read = (file: string): string => readFileSync(file, 'utf8')

function hashedName(file: string, content: string): string {
  const extension = extname(file)
  const name = file.slice(file.lastIndexOf('/') + 1, -extension.length)
  return `${name}.${createHash('sha256').update(content).digest('hex').slice(0, 16)}${extension}`
}

/** The licence of the search's library, which requires that its text is distributed with it. */
const licences = (): string =>
  read(fileURLToPath(new URL('../../LICENSE.txt', import.meta.resolve('minisearch')))).trim()
