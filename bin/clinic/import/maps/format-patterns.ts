/** Formats of dates and times, such as `D.M.YYYY` and `h:mm a`. */

/** The pattern of each part of a format. */
const TOKENS: { readonly [token: string]: string } = {
  YYYY: String.raw`(?<year>\d{4})`,
  YY: String.raw`(?<shortYear>\d{2})`,
  MMM: String.raw`(?<monthName>\p{L}{3,})\.?`,
  MM: String.raw`(?<month>\d{2})`,
  M: String.raw`(?<month>\d{1,2})`,
  DD: String.raw`(?<day>\d{2})`,
  D: String.raw`(?<day>\d{1,2})`,
  HH: String.raw`(?<hour>\d{2})`,
  H: String.raw`(?<hour>\d{1,2})`,
  hh: String.raw`(?<hour>\d{2})`,
  h: String.raw`(?<hour>\d{1,2})`,
  mm: String.raw`(?<minute>\d{2})`,
  ss: String.raw`(?<second>\d{2})(?:\.\d+)?`,
  a: String.raw`(?<half>[ap])\.?\s?m\.?`,
  Z: String.raw`(?<offset>Z|UTC|[+-](?:[01]\d|2[0-3]):?[0-5]\d)`,
}

/** Each part of a format. Text in single quotes stands for itself. */
const TOKEN = /'[^']*'|YYYY|YY|MMM|MM|M|DD|D|HH|H|hh|h|mm|ss|a|Z/g

const patterns = new Map<string, RegExp>()

/** The pattern of texts in a format: its groups are their {@link Parts}. */
export function patternOf(format: string): RegExp {
  const known = patterns.get(format)
  if (known) return known
  let source = ''
  let at = 0
  for (const match of format.matchAll(TOKEN)) {
    source += escaped(format.slice(at, match.index)) + (TOKENS[match[0]] ?? escaped(match[0].slice(1, -1)))
    at = match.index + match[0].length
  }
  const pattern = new RegExp(`^${source}${escaped(format.slice(at))}$`, 'iu')
  patterns.set(format, pattern)
  return pattern
}

export const escaped = (text: string): string =>
  text.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`).replace(/ /g, String.raw`\s+`)

export type Parts = { readonly [part: string]: string | undefined }

const tokensOf = (format: string): string[] =>
  (format.match(TOKEN) ?? []).filter((token) => !token.startsWith("'"))

/** Whether a format has a year, a month and a day. */
export const isDateFormat = (format: string): boolean =>
  /^(D|DD) (M|MM|MMM) (YY|YYYY)$/.test(tokensOf(format).sort().join(' '))

/** Whether a format has an hour, and nothing twice: `H'h'` reads 9h. */
export function isTimeFormat(format: string): boolean {
  const tokens = tokensOf(format)
  const count = (...wanted: string[]) => tokens.filter((token) => wanted.includes(token)).length
  return (
    count('H', 'HH') + count('h', 'hh') === 1 &&
    count('mm') <= 1 &&
    count('a') === count('h', 'hh') &&
    count('ss') <= count('mm') &&
    count('Z') <= 1 &&
    tokens.length === 1 + count('mm', 'ss', 'a', 'Z')
  )
}
