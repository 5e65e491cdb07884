import { type Assets, escapeHtml, page } from './html.ts'

/** The error catalogue as it is served: errors by translation key. */
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

/** Every error that the API answers, by status; each can be linked to: `/docs/errors#slot_unavailable`. */
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
<p>An error is answered as <code>{"error", "message", "details"}</code>. <code>error</code> is its code, <code>message</code> the key of its text: the texts are in <a href="../errors.json">errors.json</a>, ready to be translated. <code>details</code> is there where the table says so.</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Key</th><th scope="col">Text</th></tr></thead>
<tbody>
${rows.join('')}</tbody>
</table>
</main>
`,
  })
}
