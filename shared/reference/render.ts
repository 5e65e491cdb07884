import MarkdownIt from 'markdown-it'
import { anchors } from './anchors.ts'
import { escapeHtml, highlight, placeholders } from './highlight.ts'
import type { Page } from './pages.ts'
import { BASE_URL } from './samples.ts'

/** The languages of samples. Consecutive blocks in several of them are tabs. */
const LANGUAGES: Readonly<Record<string, string>> = { sh: 'curl', ts: 'TypeScript', python: 'Python' }

const markdown = new MarkdownIt({ html: true })
/** Only the tags that pages use; all others are text. */
const ownTags = (html: string): string => html.replace(/<(?!\/?(?:details|summary)>)/g, '&lt;')
for (const rule of ['html_block', 'html_inline'] as const)
  markdown.renderer.rules[rule] = (tokens, index) => ownTags(tokens[index]?.content ?? '')
markdown.renderer.rules.table_open = () =>
  '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>'
markdown.renderer.rules.table_close = () => '</table></div>'
/** Keys, scopes and paths break after their punctuation only. */
markdown.renderer.rules.code_inline = (tokens, index) => {
  const code = escapeHtml(tokens[index]?.content ?? '').replace(/(?<=[a-z}][./_])(?=[a-z{])/g, '<wbr>')
  return `<code>${placeholders(code)}</code>`
}
markdown.renderer.rules.fence = (tokens, index) => {
  const { info = '', content = '', meta } = tokens[index] ?? {}
  const [language = '', ...title] = info.split(' ')
  if (language === 'mermaid') return ''
  const names = { ...LANGUAGES, ...(!meta && { sh: 'Shell' }), json: 'JSON' } as Record<string, string>
  const label = escapeHtml(title.join(' ') || (names[language] ?? 'Code'))
  const tabs = ((meta?.tabs ?? []) as string[]).map(
    (one) => `<button type="button" data-language="${one}">${LANGUAGES[one]}</button>`,
  )
  const opening = tabs.length > 0 ? `<div class="tabs"><p class="choices">${tabs.join('')}</p>` : ''
  return `${opening}<figure class="${escapeHtml(language)}"><figcaption><span>${label}</span><button type="button" class="copy">Copy</button></figcaption><pre tabindex="0" role="region" aria-label="${label}"><code>${highlight(content.trimEnd(), language)}</code></pre></figure>${meta?.isLast ? '</div>' : ''}\n`
}

/** Adds an id to headings, fields and errors, and a link to it, and makes tabs of samples that follow each other. */
markdown.core.ruler.push('anchors', ({ tokens, Token, env }) => {
  const anchorOf = anchors()
  /** Makes some of a text a link to the id of `target`. */
  const link = (target: (typeof tokens)[number], id: string, inline = tokens[0], start = 0, end?: number) => {
    target.attrSet('id', id)
    const children = inline?.children ?? []
    const text = children.slice(start, end)
    if (text.some(({ type }) => type === 'link_open')) return
    const open = new Token('link_open', 'a', 1)
    open.attrSet('href', `#${id}`)
    children.splice(start, text.length, open, ...text, new Token('link_close', 'a', -1))
  }
  let section = ''
  /** The ids of the items around a token. */
  const items: string[] = []
  let run: typeof tokens = []
  const endRun = () => {
    const languages = run.map(({ info }) => info)
    if (run.length > 1)
      for (const token of run)
        token.meta = { tabs: token === run[0] ? languages : [], isLast: token === run.at(-1) }
    run = []
  }
  for (const [index, token] of tokens.entries()) {
    const isTab = token.type === 'fence' && Object.hasOwn(LANGUAGES, token.info)
    if (!isTab || run.some(({ info }) => info === token.info)) endRun()
    if (isTab) run.push(token)
    const inline = tokens[index + 1]
    if (token.type === 'heading_open') {
      section = anchorOf(inline?.content ?? '')
      if (token.tag === 'h1') token.attrSet('id', section)
      else link(token, section, inline)
    } else if (token.type === 'list_item_open') {
      const text = tokens[index + 2]
      const [name] = text?.children ?? []
      const id = `${items.at(-1) ?? section}-${name?.content}`
      items.push(id)
      if (env.hasFields && name?.type === 'code_inline') link(token, anchorOf(id), text, 0, 1)
    } else if (token.type === 'list_item_close') items.pop()
    else if (token.type === 'tr_open') {
      // Status and key of an error: td, text, end, td, text.
      const key = tokens[index + 5]?.children?.find(({ type }) => type === 'code_inline')?.content
      if (env.hasErrors && key !== undefined) link(token, key, tokens[index + 2])
    }
  }
  endRun()
})

/** The text of a heading, without its marks. */
const textOf = (inline: ReturnType<typeof markdown.parse>[number] | undefined): string =>
  (inline?.children ?? []).map(({ content }) => content).join('')

/** A page has its contents on the right from this many sections on. */
const MIN_SECTIONS = 3

/** The HTML of a page, with `end` below its text. Endpoints and events have their samples next to the text; others have their sections there. */
export function renderMarkdown(
  { markdown: text, terms, endpoint, path }: Pick<Page, 'markdown' | 'terms' | 'endpoint' | 'path'>,
  end = '',
): string {
  const hasFields = terms !== undefined
  const env = { hasFields, hasErrors: hasFields || path === 'errors' }
  const tokens = markdown.parse(text, env)
  const render = (part: typeof tokens) => markdown.renderer.render(part, markdown.options, env)
  const main = (html: string) => `<main id="contents" tabindex="-1">${html}${end}</main>\n`
  if (!hasFields) {
    const sections = tokens.flatMap((token, index) =>
      token.type === 'heading_open' && token.tag === 'h2'
        ? [`<li><a href="#${token.attrGet('id')}">${escapeHtml(textOf(tokens[index + 1]))}</a></li>`]
        : [],
    )
    if (path === '' || sections.length < MIN_SECTIONS) return main(render(tokens))
    return `<nav class="sections" aria-label="On this page"><details class="fold" open><summary>On this page</summary><ul>${sections.join('')}</ul></details></nav>
${main(render(tokens))}`
  }
  const isSample = ({ type }: (typeof tokens)[number]) => type === 'fence'
  const body = render(tokens.filter((token) => !isSample(token)))
  return `${main(endpoint ? body.replace(/<p><code>([A-Z]+) (.*?)<\/code><\/p>/, address) : body)}<aside aria-label="Samples">${render(tokens.filter(isSample))}</aside>
`
}

/** The method and the address of an endpoint, to copy and to try. */
const address = (_: string, method: string, path: string): string =>
  `<figure class="address"><b class="${method.toLowerCase()}">${method}</b> <code>${placeholders(BASE_URL)}${path}</code><button type="button" class="copy">Copy</button><button type="button" id="try">Try it</button></figure>`
