import type { APIGatewayProxyEvent } from 'aws-lambda'

/** Every value of a header, in the order in which they were sent. */
export const headerValues = (event: APIGatewayProxyEvent, name: string): string[] =>
  Object.entries(event.multiValueHeaders ?? {}).flatMap(([sent, values]) =>
    sent.toLowerCase() === name ? (values ?? []) : [],
  )

/** Whether if-none-match contains the etag (RFC 9110, 13.1.2). The comparison is weak: a proxy may have compressed its copy. */
export const matchesEtag = (event: APIGatewayProxyEvent, etag: string): boolean =>
  headerValues(event, 'if-none-match')
    .flatMap((value) => value.split(','))
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === '*' || tag === etag)

/** An entity tag (RFC 9110, 8.8.3), and what separates it from the next of a list. Tags may contain commas. */
const LISTED_TAG = /(W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*(?:,[ \t,]*|$)/gy

/**
 * The strong tags of if-match (RFC 9110, 13.1.1), `*` for any; undefined if it was not sent. Weak tags are left out, because
 * they never match.
 * @throws SyntaxError for a header that is neither `*` nor a list of tags
 */
export function ifMatchTags(event: APIGatewayProxyEvent): '*' | readonly string[] | undefined {
  const values = headerValues(event, 'if-match')
  if (values.length === 0) return undefined
  const list = values.join(',').replace(/^[ \t,]+/, '')
  if (list.trim() === '*') return '*'
  const tags = [...list.matchAll(LISTED_TAG)]
  if (list === '' || tags.map(([tag]) => tag).join('') !== list) throw new SyntaxError('malformed if-match')
  return tags.filter(([, weak]) => weak === undefined).map(([tag]) => tag.slice(0, tag.lastIndexOf('"') + 1))
}

/** The value of a header; the last one, if it was sent more than once. */
export const headerOf = (event: APIGatewayProxyEvent, name: string): string | undefined =>
  headerValues(event, name).at(-1)
