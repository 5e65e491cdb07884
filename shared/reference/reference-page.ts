import { BASE_PATH } from '../api/route.ts'
import { type Assets, escapeHtml, page } from './html.ts'

export type { Assets } from './html.ts'

/** The parts of an OpenAPI document that the list of endpoints needs. */
export type ApiDocument = {
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly webhooks?: Readonly<Record<string, PathItem>>
}
type PathItem = Readonly<Record<string, Operation>>
type Operation = { readonly operationId: string; readonly summary: string; readonly tags: readonly string[] }

/**
 * The reference page. The list of endpoints and its search work immediately; the renderer, which is forty times as large,
 * adds the rest when it has loaded.
 */
export const referencePage = (document: ApiDocument, assets: Assets): string =>
  page({
    title: 'Reference',
    toDocs: 'docs/',
    toRoot: '',
    style: assets.style,
    scripts: `<script src="docs/${assets.script}" defer></script>
<script id="renderer" src="docs/${assets.rendererScript}" defer></script>
`,
    aside: `<label class="field">Credential <input id="credential" placeholder="KEY:SECRET" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
<details id="endpoints" open>
<summary>Endpoints</summary>
<search><input id="search" type="search" placeholder="Search ( / )" aria-label="Search endpoints" autocomplete="off" spellcheck="false"></search>
<p id="found" role="status"></p>
<nav aria-label="Endpoints">
${document.tags.map(({ name }) => group(name, document)).join('')}</nav>
</details>
`,
    contents: `<link rel="stylesheet" href="docs/${assets.rendererStyle}">
<div id="reference" data-api="${BASE_PATH.slice(1)}"><p class="waiting">Loading the reference…</p></div>
<noscript><p>The reference requires JavaScript. The same content is in <a href="openapi.json">openapi.json</a> and on the <a href="docs/errors">errors page</a>.</p></noscript>
<footer><a href="docs/licences.txt">Licences</a></footer>
`,
  })

function group(tag: string, { paths, webhooks = {} }: ApiDocument): string {
  const linksOf = (items: ApiDocument['paths'], link: typeof operationLink) =>
    Object.entries(items).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, { tags }]) => tags.includes(tag))
        .map(([method, operation]) => `<li>${link(method, path, operation)}</li>\n`),
    )
  const lines = [...linksOf(paths, operationLink), ...linksOf(webhooks, eventLink)]
  return lines.length > 0
    ? `<section><h2>${escapeHtml(tag)}</h2><ul>\n${lines.join('')}</ul></section>\n`
    : ''
}

/** A link to an operation, in the form that the renderer uses: `#/Patients/list-patients`. */
const operationLink = (method: string, path: string, { operationId, summary, tags }: Operation): string =>
  `<a href="#/${encodeURIComponent(tags[0] ?? '')}/${encodeURIComponent(operationId)}"><b class="${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code> <span>${escapeHtml(summary)}</span></a>`

const eventLink = (_method: string, name: string, { summary }: Operation): string =>
  `<a href="#/webhooks/${encodeURIComponent(name)}"><code>${escapeHtml(name)}</code> <span>${escapeHtml(summary)}</span></a>`
