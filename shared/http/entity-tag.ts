import { createHash } from 'node:crypto'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { type Route, retrievesRecord } from '../api/route.ts'
import type { Middleware } from './call.ts'
import { matchesEtag } from './headers.ts'
import { mayReadRecord } from './record-reference.ts'

/** The strong etag of a record: a digest of the body with which GET returns it, so it changes exactly when the body does. */
export const etagOf = (body: string): string => `"${createHash('sha256').update(body).digest('base64url')}"`

/**
 * Adds the `etag` of a record to its response, unless it contains another record (`expand`) or the credential may not read it. If
 * a request that retrieves it has the tag in `if-none-match`, the response is a 304 without a body.
 */
export function entityTag(route: Pick<Route, 'id' | 'method' | 'response' | 'readScope'>): Middleware {
  const { status, record } = route.response
  return {
    after: (request) => {
      const { call } = request.context
      const response = request.response as APIGatewayProxyResult
      // The stored response to an earlier request may be an error.
      if (response.statusCode !== status || call.query.expand !== undefined) return
      if (!mayReadRecord(route, call)) return
      const etag = etagOf(withoutFields(response.body, record?.except ?? []))
      const headers = { ...response.headers, etag }
      const isKnown = retrievesRecord(route) && matchesEtag(request.event, etag)
      request.response = isKnown ? notModified(headers) : { ...response, headers }
    },
  }
}

function withoutFields(body: string, fields: readonly string[]): string {
  if (fields.length === 0) return body
  const { data } = JSON.parse(body) as { data: object }
  const kept = Object.entries(data).filter(([name]) => !fields.includes(name))
  return JSON.stringify({ data: Object.fromEntries(kept) })
}

function notModified({ 'content-type': _, ...headers }: NonNullable<APIGatewayProxyResult['headers']>) {
  return { statusCode: 304, headers, body: '' }
}
