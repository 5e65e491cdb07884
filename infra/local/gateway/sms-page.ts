import type { Sms } from '../providers/sms-outbox.ts'
import type { HttpResponse } from './response.ts'

/** The SMS outbox as a web page, newest first. */
export const smsPage = (messages: readonly Sms[]): HttpResponse => ({
  status: 200,
  headers: [
    ['content-type', 'text/html; charset=utf-8'],
    ['cache-control', 'no-store'],
    // Texts are escaped; this also keeps a missed one from running scripts.
    ['content-security-policy', "default-src 'none'; style-src 'unsafe-inline'"],
  ],
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="2">
<title>SMS outbox</title>
<style>
  body { font: 16px system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
  table { border-collapse: collapse; width: 100% }
  th, td { border-bottom: 1px solid #ddd; padding: .5rem; text-align: left; vertical-align: top }
  td:last-child { white-space: pre-wrap }
</style>
<h1>SMS outbox</h1>
${messages.length === 0 ? '<p>No SMS yet.</p>' : tableOf(messages)}
</html>
`,
})

const tableOf = (messages: readonly Sms[]): string => `<table>
<tr><th>At<th>To<th>From<th>Text
${messages.toReversed().map(rowOf).join('\n')}
</table>`

const rowOf = ({ at, to, sender_id, message }: Sms): string =>
  `<tr>${[at, to, sender_id ?? '', message].map((value) => `<td>${escapeHtml(value)}`).join('')}`

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (plain: string): string =>
  plain.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
