import { type Assets, shell } from './html.ts'
import { type Page, relative, rootOf } from './pages.ts'

/** The page with Swagger UI, which sends requests. It is not in the navigation: pages of endpoints link to it. */
export const CONSOLE = { path: 'console', title: 'Try it', group: '' } as const

/** The renderer is a hundred times as large as another page, so only this page loads it. */
export function consolePage(pages: readonly Page[], assets: Assets, api: string): string {
  const to = (path: string) => relative(CONSOLE.path, path)
  return shell({
    page: CONSOLE,
    pages,
    assets,
    api,
    head: `<link rel="stylesheet" href="${to(assets.rendererStyle)}">
<link rel="stylesheet" href="${to(assets.consoleStyle)}">
<script src="${to(assets.consoleScript)}" type="module"></script>
<script id="renderer" src="${to(assets.rendererScript)}" defer></script>
`,
    contents: `<main id="contents" tabindex="-1"><h1>Try it</h1>
<p>Requests go to this server, with the credential above.</p>
<div id="reference" data-root="${rootOf(CONSOLE.path)}" data-api="${api}"><p class="waiting">Loading…</p></div>
<noscript><p>The console requires JavaScript.</p></noscript></main>
`,
  })
}
