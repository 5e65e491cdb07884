import type { APIGatewayProxyEvent } from 'aws-lambda'

/** Every value of a header, in the order in which they were sent. */
export function headerValues(event: APIGatewayProxyEvent, name: string): string[] {
  const values: string[] = []
  for (const [sent, own] of Object.entries(event.multiValueHeaders ?? {}))
    if (sent.toLowerCase() === name) values.push(...(own ?? []))
  return values
}

/** Whether if-none-match contains the etag (RFC 9110, 13.1.2). The comparison is weak: a proxy may have compressed its copy. */
export const matchesEtag = (event: APIGatewayProxyEvent, etag: string): boolean =>
  headerValues(event, 'if-none-match')
    .flatMap((value) => value.split(','))
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === '*' || tag === etag)
