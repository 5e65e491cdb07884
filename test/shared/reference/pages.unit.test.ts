import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { errorsPage } from '../../../shared/reference/errors-page.ts'
import { referencePage } from '../../../shared/reference/reference-page.ts'

const assets = { rendererScript: 'r.js', rendererStyle: 'r.css', script: 's.js', style: 's.css' }
const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
const catalogue = JSON.parse(readFileSync('docs/errors.json', 'utf8'))
const EVIL = '<img src=x onerror="alert(1)">&\''
const SAFE = '&#60;img src=x onerror=&#34;alert(1)&#34;&#62;&#38;&#39;'

describe('the reference page', () => {
  const html = referencePage(document, assets)

  it('lists every endpoint and every event in its HTML', () => {
    const links = [...html.matchAll(/<li><a href="#\/([^"]+)">/g)].map(([, link]) => link)
    const operations = Object.values<Record<string, any>>(document.paths).flatMap((item) =>
      Object.values(item).map(({ tags, operationId }) => `${tags[0]}/${operationId}`),
    )
    const events = Object.keys(document.webhooks).map((name) => `webhooks/${name}`)
    expect(links.sort()).toEqual([...operations, ...events].sort())
  })

  it('has no inline scripts or styles, and no absolute links', () => {
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:/)
    expect([...html.matchAll(/https?:\/\/[^/'"]+/g)].map(([place]) => place)).toEqual(['http://www.w3.org'])
    // Below a stage name or the path of a custom domain, a link from the root would lead out of the API.
    expect(html).not.toMatch(/(?:href|src|data-api)="\//)
  })

  it('escapes the texts of the document', () => {
    const operation = { operationId: EVIL, summary: EVIL, tags: [EVIL] }
    const strange = referencePage(
      {
        tags: [{ name: EVIL }],
        paths: { [EVIL]: { get: operation } },
        webhooks: { [EVIL]: { post: operation } },
      },
      assets,
    )
    expect(strange).not.toContain('<img')
    expect(strange.split(SAFE).length).toBeGreaterThan(4)
  })

  it('omits a tag without endpoints', () => {
    expect(referencePage({ tags: [{ name: 'Nothing' }], paths: {} }, assets)).not.toContain('Nothing')
  })
})

describe('the errors page', () => {
  it('lists every error of the catalogue, each with an anchor', () => {
    const html = errorsPage(catalogue, assets)
    for (const [key, { error, status, text }] of Object.entries<any>(catalogue.errors)) {
      const row = html.split('\n').find((line) => line.includes(`<tr id="${key.split('.').at(-1)}">`)) ?? ''
      const shown = row.replace(/<[^>]+>/g, ' ').replaceAll('&#39;', "'")
      expect([key, shown.includes(error), shown.includes(String(status)), shown.includes(text)]).toEqual([
        key,
        true,
        true,
        true,
      ])
    }
    expect(html.match(/<tr id=/g)?.length).toBe(Object.keys(catalogue.errors).length)
  })

  it('escapes the texts of the catalogue', () => {
    const errors = {
      [`errors.developer_api.${EVIL}`]: { error: EVIL, status: 400, text: EVIL, details: EVIL },
    }
    expect(errorsPage({ errors }, assets)).not.toContain('<img')
  })
})
