import prism from 'prismjs'
import 'prismjs/components/prism-bash.js'
import 'prismjs/components/prism-json.js'
import 'prismjs/components/prism-python.js'
import 'prismjs/components/prism-typescript.js'
import { BASE_URL, CREDENTIAL } from './samples.ts'

/** Escapes text for element content and quoted attribute values. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Source text with a class for each kind of token, except for those that make up most tokens and have the color of the text. */
export function highlight(code: string, language: string): string {
  const grammar = prism.languages[language]
  const html = grammar ? prism.highlight(code, grammar, language) : escapeHtml(code)
  return placeholders(html.replace(/<span class="token (?:operator|punctuation)">(.*?)<\/span>/g, '$1'))
}

/** Marks what the page's script replaces by the real address and credential. */
export const placeholders = (html: string): string =>
  html
    .replaceAll(BASE_URL, `<var class="base">${BASE_URL}</var>`)
    .replaceAll(CREDENTIAL, `<var class="pair">${CREDENTIAL}</var>`)
