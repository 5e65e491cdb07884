import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import { afterAll, expect, it } from 'vitest'
import { writeReferenceFiles } from '../../../infra/functions/reference-files.ts'
import { ERROR_KEYS } from '../../../shared/api/error-catalogue.ts'
import { listFiles } from '../../../shared/reference/files.ts'
import { type ApiDocument, endpointsOf } from '../../../shared/api/openapi/read-document.ts'
import { docsPages } from '../../../shared/reference/pages.ts'
import { renderMarkdown } from '../../../shared/reference/render.ts'
import { SEARCH_OPTIONS, searchIndex } from '../../../shared/reference/search.ts'

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as ApiDocument
const pages = docsPages(document, (name) => readFileSync(`docs/${name}.md`, 'utf8'))

const folder = mkdtempSync(join(tmpdir(), 'docs-'))
writeReferenceFiles(folder)
const files = listFiles(folder)
const htmlPages = [...files].filter(([, file]) => file().type.startsWith('text/html'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What the text of an attribute stands for. */
const decoded = (text: string) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))

it('has a page for every endpoint and every event, and one that links to each', () => {
  const paths = [
    ...endpointsOf(document.paths).map(({ operation }) => `reference/${operation.operationId}`),
    ...endpointsOf(document.webhooks).map(({ path }) => `events/${path}`),
  ]
  const navigation = files.get('/docs')?.().body ?? ''
  expect(paths.length).toBeGreaterThan(60)
  expect(paths.filter((path) => !files.has(`/docs/${path}`) || !files.has(`/docs/${path}.md`))).toEqual([])
  expect(paths.filter((path) => !navigation.includes(`href="docs/${path}"`))).toEqual([])
})

it('has only links that lead to a page and its headings, below any path', () => {
  const broken = htmlPages.flatMap(([path, file]) =>
    [...file().body.matchAll(/ (?:href|src|data-docs|data-search|data-index)="([^"]*)"/g)].flatMap(
      ([, link = '']) => {
        const url = new URL(decoded(link), `https://api.example/prod${path}`)
        if (url.host !== 'api.example' || url.protocol !== 'https:') return []
        const target = url.pathname.replace(/^\/prod/, '').replace(/\/$/, '')
        const anchor = decodeURIComponent(url.hash.slice(1))
        const body = url.pathname.startsWith('/prod/') ? files.get(target)?.().body : undefined
        const isThere = anchor === '' || anchor.startsWith('/') || body?.includes(` id="${anchor}"`)
        return body !== undefined && isThere ? [] : [`${path}: ${link}`]
      },
    ),
  )
  expect(broken).toEqual([])
})

it('has no inline scripts or styles', () => {
  const inline = /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:/
  expect(htmlPages.filter(([, file]) => inline.test(file().body)).map(([path]) => path)).toEqual([])
})

it('explains every error, each with an anchor', () => {
  const html = files.get('/docs/errors')?.().body ?? ''
  expect(ERROR_KEYS.filter((key) => !html.includes(` id="${key}"`))).toEqual([])
})

it('escapes code, and marks in it what the page fills in', () => {
  const html = renderMarkdown('# <T>\n\n```ts\nf<"x">("BASE_URL")\n```\n\n```unknown\n<b>\n```\n', true)
  expect(html).not.toMatch(/<T>|<"x">|<b>/)
  expect(html).toContain('<var class="base">BASE_URL</var>')
})

it.each([
  ['create', 'reference/create-patient'],
  ['cancel', 'reference/cancel-appointment'],
  ['reminder', 'guides/messages'],
  ['signature', 'guides/webhooks'],
  ['idempotency', 'guides/errors-and-idempotency'],
  ['phone', 'guides/messages'],
  ['429', 'guides/errors-and-idempotency'],
  ['pagination', 'guides/pages-and-search'],
  ['auth', 'api'],
  ['etag', 'api'],
  ['due_date', 'reference/get-invoice'],
])('finds the page first for %s', (text, path) => {
  const search = MiniSearch.loadJSON(searchIndex(pages), SEARCH_OPTIONS)
  expect(search.search(text)[0]?.id).toBe(path)
})
