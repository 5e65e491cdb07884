/** Escapes text for element content and quoted attribute values. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

export type Assets = {
  readonly rendererScript: string
  readonly rendererStyle: string
  readonly script: string
  readonly style: string
}

type Page = {
  readonly title: string
  /** Relative paths from the page to `/docs/` and to the root. Relative, because a stage name may precede the path. */
  readonly toDocs: string
  readonly toRoot: string
  readonly style: string
  readonly scripts?: string
  /** HTML that follows the navigation links in the header. */
  readonly aside?: string
  readonly contents: string
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230b6e6e'/%3E%3Cpath d='M8 4v8M4 8h8' stroke='%23fff' stroke-width='2.5'/%3E%3C/svg%3E"

/** The HTML document that all pages share. */
export const page = ({ title, toDocs, toRoot, style, scripts = '', aside = '', contents }: Page): string => {
  const links = [
    [`${toRoot}docs`, 'Reference'],
    [`${toDocs}errors`, 'Errors'],
    [`${toRoot}openapi.json`, 'openapi.json'],
  ]
  const list = links.map(
    ([href = '', name]) =>
      `<li><a href="${href}"${name === title ? ' aria-current="page"' : ''}>${name}</a></li>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Clinic Developer API</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${toDocs}${style}">
${scripts}</head>
<body${aside ? ' class="with-list"' : ''}>
<a class="skip" href="#contents">Skip to the contents</a>
<header>
<p class="name">Clinic Developer API</p>
<nav aria-label="Pages"><ul>${list.join('')}</ul></nav>
${aside}</header>
<div id="contents" tabindex="-1">
${contents}</div>
</body>
</html>
`
}
