import { type Assets, escapeHtml, page } from './html.ts'

/** The error catalogue as served in errors.json: errors by translation key. */
export type Catalogue = {
  readonly errors: Readonly<
    Record<
      string,
      {
        readonly error: string
        readonly status: number
        readonly text: string
        readonly details: string | null
      }
    >
  >
}

/** The page of all errors, sorted by status. Each has an anchor: `/docs/errors#slot_unavailable`. */
export function errorsPage({ errors }: Catalogue, assets: Pick<Assets, 'style'>): string {
  const rows = Object.entries(errors)
    .sort(([, one], [, other]) => one.status - other.status)
    .map(([key, { error, status, text, details }]) => {
      const id = escapeHtml(key.slice(key.lastIndexOf('.') + 1))
      const shape = details === null ? '' : ` <code>details: ${escapeHtml(details)}</code>`
      return `<tr id="${id}"><td>${status}</td><td><code>${escapeHtml(error)}</code></td><td><a href="#${id}"><code>${escapeHtml(key)}</code></a></td><td>${escapeHtml(text)}${shape}</td></tr>\n`
    })
  return page({
    title: 'Errors',
    toDocs: '',
    toRoot: '../',
    style: assets.style,
    contents: `<main>
<h1>Errors</h1>
<p>The body of an error response is <code>{"error", "message", "details"}</code>. <code>error</code> is the error code and <code>message</code> is a translation key. The English texts are in <a href="../errors.json">errors.json</a>, ready for translation. <code>details</code> is present only for the errors that list it below.</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Key</th><th scope="col">Text</th></tr></thead>
<tbody>
${rows.join('')}</tbody>
</table>
</main>
`,
  })
}
