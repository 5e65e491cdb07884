import { createHash } from 'node:crypto'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import type { Route } from '../api/route.ts'
import type { ApiCall } from './call.ts'
import { matchesEtag } from './headers.ts'
import { mayReadRecord } from './record-reference.ts'

/**
 * The strong etag of a record: a digest of the body with which GET returns it, so it changes exactly when the body does. What a change
 * says besides the record, in `meta`, is not part of it.
 */
export function etagOf(body: unknown, except: readonly string[] = []): string {
  const { data } = body as { data: object }
  const kept = Object.entries(data).filter(([name]) => !except.includes(name))
  const text = JSON.stringify({ data: Object.fromEntries(kept) })
  return `"${createHash('sha256').update(text).digest('base64url')}"`
}

/**
 * Adds the `etag` of a record to its response, unless it contains another record (`expand`) or the credential may not read it. If
 * a request that retrieves it has the tag in `if-none-match`, the response is a 304 without a body.
 */
export function addEntityTag(
  route: Route,
  event: APIGatewayProxyEvent,
  call: ApiCall,
  response: APIGatewayProxyResult,
): APIGatewayProxyResult {
  const { status, record } = route.response
  // The stored response to an earlier request may be an error.
  if (!record || response.statusCode !== status) return response
  if (call.query.expand !== undefined || !mayReadRecord(route, call)) return response
  const etag = etagOf(JSON.parse(response.body), record.except)
  const headers = { ...response.headers, etag }
  const isKnown = route.method === 'GET' && matchesEtag(event, etag)
  return isKnown ? notModified(headers) : { ...response, headers }
}

function notModified({ 'content-type': _, ...headers }: NonNullable<APIGatewayProxyResult['headers']>) {
  return { statusCode: 304, headers, body: '' }
}
