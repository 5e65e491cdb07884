import type { HttpResponse } from './response.ts'

/** Accepted messages as a web page, newest first. */
export const messagesPage = <Field extends string>(
  title: string,
  fields: readonly Field[],
  messages: readonly Readonly<Record<Field, unknown>>[],
): HttpResponse => ({
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
<title>${title}</title>
<style>
  body { font: 16px system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
  table { border-collapse: collapse; width: 100% }
  th, td { border-bottom: 1px solid #ddd; padding: .5rem; text-align: left; vertical-align: top }
  td:last-child { white-space: pre-wrap }
</style>
<h1>${title}</h1>
<table>
<tr>${fields.map((field) => `<th>${field}`).join('')}
${messages
  .toReversed()
  .map(
    (message) => `<tr>${fields.map((field) => `<td>${escapeHtml(String(message[field] ?? ''))}`).join('')}`,
  )
  .join('\n')}
</table>
</html>
`,
})

const escapeHtml = (plain: string): string =>
  plain.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
