import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { writeReferenceFiles } from '../../../infra/functions/reference-files.ts'
import { ERROR_KEYS } from '../../../shared/api/error-catalogue.ts'
import { type ApiDocument, endpointsOf } from '../../../shared/openapi/read-document.ts'
import { listFiles } from '../../../shared/reference/files.ts'
import { docsPages } from '../../../shared/reference/pages.ts'
import { renderMarkdown } from '../../../shared/reference/render.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as ApiDocument
const pages = docsPages(document, (file) => readFileSync(file, 'utf8'))

const markdownOf = (id: string) => pages.find(({ path }) => path === `reference/${id}`)?.markdown

const folder = temporaryFolder()
writeReferenceFiles(folder)
const files = listFiles(folder)
const htmlPages = [...files].filter(([, file]) => file().type.startsWith('text/html'))
const markdownPages = [...files].filter(([, file]) => file().type.startsWith('text/markdown'))

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
    [...file().body.matchAll(/ (?:href|src|data-docs|data-search)="([^"]*)"/g)].flatMap(([, link = '']) => {
      const url = new URL(decoded(link), `https://api.example/prod${path}`)
      if (url.host !== 'api.example' || url.protocol !== 'https:') return []
      const target = url.pathname.replace(/^\/prod/, '').replace(/\/$/, '')
      const anchor = decodeURIComponent(url.hash.slice(1))
      const body = url.pathname.startsWith('/prod/') ? files.get(target)?.().body : undefined
      const isThere = anchor === '' || anchor.startsWith('/') || body?.includes(` id="${anchor}"`)
      return body !== undefined && isThere ? [] : [`${path}: ${link}`]
    }),
  )
  expect(broken).toEqual([])
})

it('has only links that lead to a file in its Markdown', () => {
  const broken = markdownPages.flatMap(([path, file]) =>
    [...file().body.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].flatMap(([, link = '']) =>
      files.has(new URL(link, `https://api.example${path}`).pathname) ? [] : [`${path}: ${link}`],
    ),
  )
  expect(broken).toEqual([])
})

it('shows each response that a request can have', () => {
  const page = pages.find(({ path }) => path === 'reference/send-message')
  expect(page?.markdown).toMatch(
    /202 Accepted \(sms\)[^`]+"id"[^`]+`+\n\n`+json 202 Accepted \(email\)[^`]+"patient"/,
  )
})

it('shows the fields of each variant of a response', () => {
  const responseOf = (id: string) => /\n## Response\n(.*?)\n## /s.exec(markdownOf(id) ?? '')?.[1]
  expect(responseOf('send-message')).toMatch(
    /- `channel` \*`sms` or `email`\*\n[^#]+>Fields if channel is sms<[^<]+ `id` [^<]+<[^#]+>Fields if channel is email<[^<]+ `patient` /,
  )
  const events = responseOf('list-events')
  const names = endpointsOf(document.webhooks).map(({ path }) => path)
  expect(names.filter((name) => !events?.includes(name))).toEqual(['webhook.ping'])
  expect(events).toMatch(/ is import\.completed<[^<]+ `imported` /)
  expect(responseOf('get-appointment')).toMatch(/>Or the fields of Patient<[^<]+ `phone_number` /)
  expect(responseOf('create-patient')).toMatch(
    />Or the fields of PatientReference<[^<]+ `first_name` \*string, optional\* /,
  )
})

it('says which fields a request requires, and which ones a response can lack', () => {
  const [request = '', response = ''] = (markdownOf('create-payment') ?? '').split('## Response')
  expect(request).toContain('- `amount` *number* **required** Amount')
  expect(response).not.toContain('**required**')
  expect(response).toMatch(/- `amount` \*number\* Amount.+- `amount` \*number, optional\* Amount/s)
})

it('links a field whose description has links', () => {
  expect(files.get('/docs/reference/get-invoice')?.().body).toContain(
    '<li id="query-expand"><a href="#query-expand"><code>expand</code></a>',
  )
})

it('names what the details of an error have besides a field', () => {
  expect(markdownOf('create-appointment')).toContain(
    'again.** In `details`: `appointment_date`, `start_time`, `end_time`. |',
  )
})

it('shows the values of a filter that takes several of them', () => {
  expect(markdownOf('list-appointments')).toContain(
    '- `status` *`scheduled` or `completed` or `cancelled` or `no_show`* Only',
  )
})

it('says once when an event occurs', () => {
  const repeated = endpointsOf(document.webhooks).filter(({ path, operation }) => {
    const page = pages.find((one) => one.path === `events/${path}`)
    return page?.markdown.split(operation.summary).length !== 2
  })
  expect(repeated.map(({ path }) => path)).toEqual([])
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
  const html = renderMarkdown({
    path: 'reference/x',
    markdown: '# <T>\n\n```ts\nf<"x">("BASE_URL")\n```\n\n```unknown\n<b>\n```\n',
  })
  expect(html).not.toMatch(/<T>|<"x">|<b>/)
  expect(html).toContain('<var class="base">BASE_URL</var>')
})

it('leaves out diagrams, which browsers do not draw', () => {
  expect(files.get('/docs/webhooks.md')?.().body).toContain('stateDiagram')
  expect(
    htmlPages.flatMap(([path, file]) => (/mermaid|stateDiagram/.test(file().body) ? [path] : [])),
  ).toEqual([])
})

it('uses the variables of a guide in its commands', () => {
  expect(files.get('/docs/guides/quickstart.md')?.().body).toMatch(/export API=.+"\$API\/patients\?limit=2"/s)
  expect(files.get('/docs/guides/pages-and-search.md')?.().body).not.toContain('$API')
})

it('links methods and paths to the pages of their endpoints', () => {
  expect(files.get('/docs/guides/booking')?.().body).toContain(
    '<a href="../../docs/reference/get-availability"><code>GET /availability</code></a>',
  )
  expect(files.get('/docs/errors')?.().body).toContain('<a href="../docs/reference/activate-patient">')
  expect(files.get('/docs/reference/get-patient')?.().body).not.toContain(
    '<a href="../../docs/reference/get-patient"><',
  )
})

it('stays below the sizes of docs/reference-page.md', () => {
  const sizes = (pattern: RegExp) => {
    const found = [...files].flatMap(([path, file]) =>
      pattern.test(path) ? [gzipSync(file().body).length] : [],
    )
    expect(found).not.toEqual([])
    return found
  }
  const sum = (list: number[]) => list.reduce((total, size) => total + size, 0)
  const shared = sum(sizes(/\/docs\.[A-Z2-7]{8}\.(css|js)$/))
  const longest = (pattern: RegExp) => shared + Math.max(...sizes(pattern))
  const figures = /at most (\d+) kB for an endpoint, (\d+) kB for the longest page[\s\S]*?\| at most (\d+) kB/
  const [, endpoint, page, search] = figures.exec(readFileSync('docs/reference-page.md', 'utf8')) ?? []
  expect(longest(/^\/docs\/reference\/[\w-]+$/)).toBeLessThanOrEqual(Number(endpoint) * 1000)
  expect(longest(/^\/docs\/[\w/-]+$/)).toBeLessThanOrEqual(Number(page) * 1000)
  expect(sum(sizes(/\/search\.[A-Z2-7]{8}\.js$/))).toBeLessThanOrEqual(Number(search) * 1000)
})
