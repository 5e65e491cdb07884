import { readFileSync } from 'node:fs'
import MiniSearch from 'minisearch'
import { expect, it } from 'vitest'
import type { ApiDocument } from '../../../shared/openapi/read-document.ts'
import { docsPages } from '../../../shared/reference/pages.ts'
import { renderMarkdown } from '../../../shared/reference/render.ts'
import { SEARCH_OPTIONS, searchIndex, searchPages } from '../../../shared/reference/search.ts'
import { snippetOf } from '../../../shared/reference/snippet.ts'

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as ApiDocument
const pages = docsPages(document, (file) => readFileSync(file, 'utf8'))
const index = MiniSearch.loadJSON(searchIndex(pages), SEARCH_OPTIONS)

/** The address of the first result, with the section that it links to. */
function firstHit(text: string): string {
  const [first] = searchPages(index, text)
  const page = pages.find(({ path }) => path === first?.id)
  const anchor = page && snippetOf(page.markdown, first?.terms ?? [])?.anchor
  return `${first?.id}${anchor ? `#${anchor}` : ''}`
}

it.each([
  ['sandbox', 'guides/going-live'],
  ['double booking', 'guides/booking'],
  ['birthday', 'reference/create-patient#body-date_of_birth'],
  ['oauth', 'api#not-offered'],
  ['unsubscribe', 'api#not-offered'],
  ['refund', 'reference/create-payment'],
  ['invoice paid', 'events/invoice.paid'],
  ['timezone', 'guides/booking'],
  ['recurring', 'api#not-offered'],
  ['reschedule', 'reference/update-appointment'],
  ['gdpr', 'events/patient.erased'],
  ['kvkk', 'events/patient.erased'],
  ['delete patient', 'events/patient.erased'],
  ['how do I cancel an appointment', 'reference/cancel-appointment'],
  ['create', 'reference/create-patient'],
  ['cancel', 'reference/cancel-appointment'],
  ['no show', 'reference/no-show-appointment'],
  ['check in', 'reference/check-in-appointment'],
  ['free slots', 'reference/get-availability'],
  ['slot_unavailable', 'guides/booking'],
  ['list appointments', 'reference/list-appointments'],
  ['payments', 'reference/list-payments'],
  ['due_date', 'reference/update-invoice'],
  ['national_id', 'reference/list-patients'],
  ['scopes', 'reference/get-me'],
  ['rotate secret', 'reference/rotate-webhook-secret'],
  ['delete webhook', 'reference/delete-webhook'],
  ['reminder', 'guides/messages#reminders'],
  ['phone', 'guides/messages'],
  ['sms', 'guides/messages'],
  ['email', 'guides/messages'],
  ['bounce', 'guides/messages#test-recipients'],
  ['signature', 'guides/webhooks#verify-the-signature-and-respond'],
  ['idempotency', 'guides/errors-and-idempotency#idempotency'],
  ['429', 'guides/errors-and-idempotency'],
  ['pagination', 'guides/pages-and-search'],
  ['search patients', 'guides/pages-and-search#search'],
  ['updated_since', 'guides/keeping-a-copy'],
  ['auth', 'api#authentication'],
  ['etag', 'api#unchanged-records-etag'],
  ['cors', 'api#authentication'],
  ['rate limit', 'rate-limits'],
  ['errors', 'errors'],
  ['clock', 'guides/testing#the-clock'],
  ['cost', 'messages#limits'],
  ['reschedule appointment', 'reference/update-appointment'],
  ['retry failed webhook', 'webhooks#'],
  ['openapi', 'api'],
  ['base url', 'api'],
  ['what happens when sms is declined', 'guides/messages#consent-and-language'],
  ['HMAC', 'guides/webhooks#verify-the-signature-and-respond'],
  ['day off', 'reference/create-time-off'],
  ['partial payment', 'reference/create-payment'],
  ['401', 'api#authentication'],
  ['replay', 'reference/redeliver'],
  ['test mode', 'guides/going-live'],
  ['pdf', 'api#not-offered'],
  // Values of fields and filters.
  ['overdue', 'reference/list-invoices'],
])('finds the answer first for %s', (text, address) => {
  expect(firstHit(text)).toMatch(new RegExp(`^${address}`))
})

it('finds similar words and any of the words when no page has all of them', () => {
  expect(firstHit('idempotancy')).toBe('guides/errors-and-idempotency#idempotency')
  expect(firstHit('cancel an appointment xyzzy')).toMatch('reference/cancel-appointment')
  // A short word has no similar ones, such as void.
  expect(firstHit('avoid xyzzy')).toBe('api#external-ids')
  expect(searchPages(index, 'xyzzy')).toEqual([])
})

it('shows the line of a section that has the words, without marks and code', () => {
  const markdown =
    '# A\n\nOne.\n\n```sh\nkey\n```\n\n## Use `it`\n\nA [key](b.md) of\ntwo words.\n\n## Use `it`\n\nNo.\n'
  expect(snippetOf(markdown, ['key', 'words'])).toMatchObject({
    anchor: 'use-it',
    heading: 'Use it',
    text: 'A key of two words.',
  })
  expect(snippetOf(markdown, ['no'])).toMatchObject({ anchor: 'use-it-1' })
})

it('links to ids that the page has, for every field, heading and key', () => {
  const missing = pages.flatMap((page) => {
    const html = renderMarkdown(page)
    const names = page.markdown.matchAll(/(?<=`)[\w-]+(?=`)|(?<=^##+ )[\w-]+/gm)
    const words = new Set([...names].map(([name]) => name.toLowerCase()))
    const linked = [...words].map((word) => snippetOf(page.markdown, [word])?.anchor ?? '')
    return linked.flatMap((id) => (id === '' || html.includes(` id="${id}"`) ? [] : [`${page.path}#${id}`]))
  })
  expect(missing).toEqual([])
})
