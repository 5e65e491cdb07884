/** The handler that serves the reference, with the files of the bundle. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeReferenceFiles } from '../../../infra/functions/reference-files.ts'
import { listFiles } from '../../../shared/reference/files.ts'
import { serveFiles } from '../../../shared/reference/serve.ts'
import { apiEvent, lambdaContext, type RequestInput } from '../../support/event.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
const logged: Record<string, unknown>[] = []
let handler: ReturnType<typeof serveFiles>

beforeAll(() => {
  writeReferenceFiles(folder)
  handler = serveFiles(listFiles(folder), { now: () => 0, log: (line) => logged.push(line) })
})

/** Calls the handler as the gateway does: with a resource, or with the path below /docs. */
async function ask(path: string, sent: RequestInput = {}) {
  const below = /^\/docs\/(.+)$/.exec(path)?.[1]
  const where =
    below === undefined ? { resource: path } : { resource: '/docs/{proxy+}', path: { proxy: below } }
  const event = { ...apiEvent({ ...where, ...sent }), path }
  const response = (await handler(event, lambdaContext() as never)) as APIGatewayProxyResult
  return { status: response.statusCode, headers: response.headers ?? {}, text: response.body }
}

const scriptOf = async () => /src="(docs\/docs\.[A-Z2-7]{8}\.js)"/.exec((await ask('/docs')).text)?.[1] ?? ''

describe('serving files', () => {
  it.each([
    ['/docs', 'text/html'],
    ['/docs/errors', 'text/html'],
    ['/docs/guides/booking', 'text/html'],
    ['/docs/guides/booking.md', 'text/markdown'],
    ['/docs/licences.txt', 'text/plain'],
    ['/openapi.json', 'application/json'],
    ['/errors.json', 'application/json'],
  ])('serves %s without a credential, cacheable for five minutes', async (path, type) => {
    const { status, headers, text } = await ask(path)
    expect({ status, text }).toEqual({ status: 200, text: expect.stringMatching(/\S/) })
    expect(headers).toEqual({
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'public, max-age=300',
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
      vary: 'accept-encoding',
      'x-request-id': 'request-1',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'strict-transport-security': 'max-age=63072000; includeSubDomains',
    })
  })

  it.each([
    ['/openapi.json', '/api/developer/v1'],
    ['/prod/openapi.json', '/prod/api/developer/v1'],
  ])('names the server at the address of %s', async (sentPath, url) => {
    const { servers, ...document } = JSON.parse((await ask('/openapi.json', { sentPath })).text)
    expect(servers).toEqual([expect.objectContaining({ url })])
    expect(document.paths).toHaveProperty('/patients')
  })

  it('serves the committed document and catalogue', async () => {
    const { default: document } = await import('../../../docs/openapi.json', { with: { type: 'json' } })
    const { default: catalogue } = await import('../../../docs/errors.json', { with: { type: 'json' } })
    expect(JSON.parse((await ask('/openapi.json')).text)).toEqual(document)
    expect(JSON.parse((await ask('/errors.json')).text)).toEqual(catalogue)
  })

  it('serves scripts and styles under hashed names, cacheable forever', async () => {
    const { text } = await ask('/docs/reference/list-patients')
    const assets = [...text.matchAll(/"([^"]+\.[A-Z2-7]{8}\.(?:js|css|json))"/g)].map(([, asset]) => asset)
    expect(assets.length).toBe(4)
    for (const asset of assets) {
      const { status, headers } = await ask(`/docs/${asset?.split('/').at(-1)}`)
      expect({ status, headers }).toMatchObject({
        status: 200,
        headers: {
          'cache-control': 'public, max-age=31536000, immutable',
          'content-type': expect.stringMatching(
            /^(text\/(javascript|css)|application\/json); charset=utf-8$/,
          ),
        },
      })
    }
  })

  it('has no file too large for a Lambda response', async () => {
    for (const file of listFiles(folder).values())
      expect(JSON.stringify(file()).length).toBeLessThan(4_000_000)
  })

  it('has no source maps', () => {
    for (const [path, file] of listFiles(folder))
      expect([path, /sourceMappingURL=/.test(file().body)]).toEqual([path, false])
  })
})

describe('a conditional request', () => {
  it.each([
    ['the etag', (etag: string) => etag],
    ['the weak etag that a proxy makes of it', (etag: string) => `W/${etag}`],
    ['the etag among others', (etag: string) => ['"x"', `"y", ${etag}`]],
    ['an asterisk', () => '*'],
  ])('returns 304 for %s', async (_what, tag) => {
    const { headers, text } = await ask('/docs')
    const again = await ask('/docs', { headers: { 'If-None-Match': tag(headers.etag as string) } })
    expect([again.status, again.text]).toEqual([304, ''])
    const { 'content-type': _type, ...kept } = headers
    expect(again.headers).toEqual(kept)
    expect(text.length).toBeGreaterThan(1000)
  })

  it('returns 200 for another etag', async () => {
    expect((await ask('/docs', { headers: { 'if-none-match': '"AAAAAAAAAAAAAAAAAAAAAA"' } })).status).toBe(
      200,
    )
  })
})

describe('an unmatched request', () => {
  const NOT_FOUND = { error: 'NOT_FOUND', message: 'errors.developer_api.route_not_found' }

  it('returns 404 in the API error shape outside /docs', async () => {
    const { status, text } = await ask('/docs.html')
    expect([status, JSON.parse(text)]).toEqual([404, NOT_FOUND])
  })

  it.each([
    '/docs/docs.0000000000000000.js',
    '/docs/errors.html',
    '/docs/docs',
    '/docs/../index.js',
    '/docs/..%2findex.js',
    '/docs/%2e%2e/%2e%2e/index.js',
    '/docs//etc/passwd',
    '/docs/constructor',
  ])('returns 404 with a page for %s, whose links lead to pages', async (path) => {
    const { status, headers, text } = await ask(path)
    const link = new URL(/href="(\S+quickstart)"/.exec(text)?.[1] ?? '', `https://api.example${path}`)
    expect([status, text]).toEqual([404, expect.stringContaining('<h1 id="page-not-found">')])
    if (!/%|\.\./.test(path)) expect(link.pathname).toBe('/docs/guides/quickstart')
    expect(text).not.toContain('passwd')
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': 'request-1',
      'x-content-type-options': 'nosniff',
    })
  })

  it.each([
    ['/', '/docs'],
    ['/prod', '/prod/docs'],
    ['/prod/', '/prod/docs'],
    ['//example.com', '/docs'],
  ])('redirects %s to %s', async (sentPath, location) => {
    const { status, headers } = await ask('/', { sentPath })
    expect([status, headers.location]).toEqual([302, location])
  })

  it('redirects a path with a trailing slash', async () => {
    const { status, headers } = await ask('/docs/', { resource: '/docs' })
    expect([status, headers.location]).toEqual([308, '../docs'])
  })
})

it('does not log paths', async () => {
  logged.length = 0
  await ask('/docs/ada-kaya', { query: { name: 'ada' }, headers: { referer: 'https://ada' } })
  await ask(`/${await scriptOf()}`)
  expect(logged).toMatchObject([
    { route: 'reference', status: 404, level: 'info', error: 'route_not_found', request_id: 'request-1' },
    { route: 'reference', status: 200 },
    { route: 'reference', status: 200 },
  ])
  expect(JSON.stringify(logged)).not.toMatch(/ada|docs\./)
})

it('rejects files that are not text', () => {
  const other = temporaryFolder()
  try {
    writeFileSync(join(other, 'icon.png'), '')
    expect(() => listFiles(other)).toThrow('icon.png has an unknown type: add it to TYPES.')
  } finally {
  }
})
