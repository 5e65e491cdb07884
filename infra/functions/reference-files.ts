import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, buildSync } from 'esbuild'
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
  const index = JSON.stringify(searchIndex(pages))
  const assets: Assets = {
    script: writeAsset(directory, 'docs.js'),
    searchScript: writeAsset(directory, 'search.js', { ...MODULE, define: { INDEX: index } }),
    style: writeAsset(directory, 'docs.css'),
    // Grammars of Prism need it as a global.
    tryScript: writeAsset(directory, 'try.js', { ...MODULE, define: { global: 'globalThis' } }),
  }
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

/** A script with what it imports. */
const MODULE = { bundle: true, format: 'esm' } as const

/** Writes a script or style for browsers, and returns its name. */
function writeAsset(directory: string, file: string, options: BuildOptions = {}): string {
  const { metafile } = buildSync({
    ...options,
    entryPoints: [join(SCRIPTS, file)],
    outdir: join(directory, 'docs'),
    entryNames: '[name].[hash]',
    minify: true,
    metafile: true,
  })
  const [output = ''] = Object.keys(metafile.outputs)
  return basename(output)
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

/** The licences of the libraries of the pages, which require that their texts are distributed with them. */
const licences = (): string =>
  [
    new URL('../../LICENSE.txt', import.meta.resolve('minisearch')),
    new URL('LICENSE', import.meta.resolve('prismjs')),
  ]
    .map((file) => read(fileURLToPath(file)).trim())
    .join('\n\n')
