import { escapeHtml } from './highlight.ts'
import { type Page, relative, rootOf } from './pages.ts'

/** Names of the scripts and styles, which contain a hash of their content. */
export type Assets = Readonly<Record<'script' | 'searchScript' | 'style' | 'tryScript', string>>

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230b6e6e'/%3E%3Cpath d='M8 4v8M4 8h8' stroke='%23fff' stroke-width='2.5'/%3E%3C/svg%3E"

type Shell = {
  readonly page: Page
  readonly pages: readonly Page[]
  readonly assets: Assets
  /** The path of the API below the root, without a slash in front. */
  readonly api: string
  /** HTML of the page, from `<main>` on. */
  readonly contents: string
}

/** The HTML document that all pages share: navigation, search and the credential for samples. */
export function shell({ page, pages, assets, api, contents }: Shell): string {
  const to = (path: string) => relative(page.path, path)
  const layout = page.terms ? ' reference' : page.path === '' ? ' home' : ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.path === '' ? page.title : `${page.title} · Clinic Developer API`)}</title>
<link rel="icon" href="${ICON}">
<link rel="alternate" type="text/markdown" href="${to(page.path === '' ? 'index.md' : `${page.path}.md`)}">
<link rel="stylesheet" href="${to(assets.style)}">
<script src="${to(assets.script)}" data-api="${rootOf(page.path)}${api}" data-docs="${to('')}/" data-search="${to(assets.searchScript)}" data-try="${to(assets.tryScript)}"></script>
</head>
<body>
<a class="skip" href="#contents">Skip to the contents</a>
<header>
<p class="name"><a href="${to('')}">Clinic Developer API</a></p>
<search><input id="search" type="search" placeholder="Search (Ctrl K)" aria-label="Search" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="found"><ul id="found" role="listbox" aria-label="Pages found" hidden></ul></search>
<label class="credential"><span>Credential</span> <input id="credential" placeholder="KEY:SECRET" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
<button type="button" id="theme" aria-label="Switch between light and dark">◐</button>
</header>
<div class="columns${layout}">
<nav class="menu" aria-label="Documentation"><details class="fold" open><summary>Contents</summary>
${navigation(page, pages)}</details></nav>
${contents}</div>
<footer><a href="${to(page.path === '' ? 'index.md' : `${page.path}.md`)}">This page as Markdown</a> <a href="${to('llms.txt')}">All pages as text</a> <a href="${rootOf(page.path)}openapi.json">openapi.json</a> <a href="${to('licences.txt')}">Licences</a></footer>
</body>
</html>
`
}

/** Links to all pages by group. The group of the page is open. */
function navigation(page: Shell['page'], pages: readonly Page[]): string {
  const groups = Map.groupBy(pages, ({ group }) => group)
  return [...groups]
    .map(([group, members]) => {
      const links = members.map(({ path, title, endpoint }) => {
        const current = path === page.path ? ' aria-current="page"' : ''
        const method = endpoint ? `<b class="${endpoint.method.toLowerCase()}">${endpoint.method}</b> ` : ''
        return `<li><a href="${relative(page.path, path)}"${current}>${method}${escapeHtml(path === '' ? 'Overview' : title)}</a></li>`
      })
      const isOpen = group === page.group || members[0]?.path === ''
      return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(group)}</summary><ul>${links.join('')}</ul></details>\n`
    })
    .join('')
}

/** Links to the pages before and after a page of the navigation. */
export function neighbours(page: Page, pages: readonly Page[]): string {
  const index = pages.indexOf(page)
  if (index < 0) return ''
  const link = (other: Page | undefined, label: string) =>
    other
      ? `<a href="${relative(page.path, other.path)}"><small>${label}:</small> ${escapeHtml(other.path === '' ? 'Overview' : other.title)}</a>`
      : ''
  return `<nav class="turn" aria-label="Pages">${link(pages[index - 1], 'Previous')}${link(pages[index + 1], 'Next')}</nav>`
}
