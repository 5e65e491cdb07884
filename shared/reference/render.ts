import MarkdownIt from 'markdown-it'
import { createCssVariablesTheme, createHighlighterCoreSync } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'
import bash from 'shiki/langs/bash.mjs'
import json from 'shiki/langs/json.mjs'
import python from 'shiki/langs/python.mjs'
import typescript from 'shiki/langs/typescript.mjs'
import { escapeHtml } from './html.ts'
import { BASE_URL, CREDENTIAL } from './samples.ts'

const LANGUAGES: Readonly<Record<string, string>> = { sh: 'curl', ts: 'TypeScript', python: 'Python' }

const theme = createCssVariablesTheme({ name: 'classes', variablePrefix: '--' })
const highlighter = createHighlighterCoreSync({
  themes: [theme],
  langs: [bash, json, python, typescript],
  engine: createJavaScriptRegexEngine(),
})

/** Source text with a class for each kind of token, since the content security policy forbids styles in the page. */
function highlight(code: string, language: string): string {
  if (!highlighter.getLoadedLanguages().includes(language)) return placeholders(escapeHtml(code))
  // On a busy machine, a limit of time would change the page, and with it the hash of the asset.
  const { tokens } = highlighter.codeToTokens(code, {
    lang: language,
    theme: 'classes',
    tokenizeTimeLimit: 0,
  })
  const lines = tokens.map((line) =>
    line
      .map(({ content, color }) => {
        const kind = /--token-([\w-]+)/.exec(color ?? '')?.[1]
        const text = escapeHtml(content)
        return kind === undefined ? text : `<i class="${kind}">${text}</i>`
      })
      .join(''),
  )
  return placeholders(lines.join('\n'))
}

/** Marks what the page's script replaces by the real address and credential. */
const placeholders = (html: string): string =>
  html
    .replaceAll(BASE_URL, `<var class="base">${BASE_URL}</var>`)
    .replaceAll(CREDENTIAL, `<var class="pair">${CREDENTIAL}</var>`)

/** The address of a heading within its page, as GitHub makes it. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

const markdown = new MarkdownIt({ html: true })
/** Only the tags that pages use; all others are text. */
const ownTags = (html: string): string =>
  html.replace(/<(?!\/?(?:details|summary)>|a id="\w+">|\/a>)/g, '&lt;')
for (const rule of ['html_block', 'html_inline'] as const)
  markdown.renderer.rules[rule] = (tokens, index) => ownTags(tokens[index]?.content ?? '')
markdown.renderer.rules.heading_open = (tokens, index) => {
  const { tag } = tokens[index] ?? { tag: '' }
  return `<${tag} id="${anchor(tokens[index + 1]?.content ?? '')}">`
}
markdown.renderer.rules.table_open = () =>
  '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>'
markdown.renderer.rules.table_close = () => '</table></div>'
markdown.renderer.rules.fence = (tokens, index) => {
  const { info = '', content = '' } = tokens[index] ?? {}
  const [language = '', ...title] = info.split(' ')
  const name = LANGUAGES[language]
  const label = title.join(' ') || (name === undefined ? 'Code' : `Sample in ${name}`)
  return `<figure class="${escapeHtml(language)}">${title.length > 0 ? `<figcaption>${escapeHtml(label)}</figcaption>` : ''}<pre tabindex="0" role="region" aria-label="${escapeHtml(label)}"><code>${highlight(content.trimEnd(), language)}</code></pre></figure>\n`
}

/** The HTML of a page: its text, and next to it its samples if `hasSamples`, with a choice of their language. */
export function renderMarkdown(text: string, hasSamples: boolean): string {
  const tokens = markdown.parse(text, {})
  const render = (part: typeof tokens) => markdown.renderer.render(part, markdown.options, {})
  if (!hasSamples) return `<main id="contents" tabindex="-1">${render(tokens)}</main>\n`
  const isSample = ({ type }: (typeof tokens)[number]) => type === 'fence'
  const samples = tokens.filter(isSample)
  const choices = Object.entries(LANGUAGES).filter(([language]) =>
    samples.some(({ info }) => info === language),
  )
  const inputs = choices.map(
    ([language, name], index) =>
      `<label><input type="radio" name="language" value="${language}"${index === 0 ? ' checked' : ''}> ${name}</label>`,
  )
  return `<main id="contents" tabindex="-1">${render(tokens.filter((token) => !isSample(token)))}</main>
<aside class="samples" aria-label="Samples"><fieldset><legend>Language</legend>${inputs.join('')}</fieldset>${render(samples)}</aside>
`
}
