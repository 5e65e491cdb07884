import { createHash } from 'node:crypto'
import type { APIGatewayProxyResult } from 'aws-lambda'
import type { Middleware } from './call.ts'
import { matchesEtag } from './headers.ts'

/**
 * Adds the `etag` of a record to its response. If the request has it in `if-none-match`, the response is a 304 without a
 * body. The tag is a digest of the body, so it changes exactly when the body does.
 */
export function entityTag(): Middleware {
  return {
    after: (request) => {
      const response = request.response as APIGatewayProxyResult
      const etag = `"${createHash('sha256').update(response.body).digest('base64url')}"`
      const headers = { ...response.headers, etag }
      request.response = matchesEtag(request.event, etag) ? notModified(headers) : { ...response, headers }
    },
  }
}

function notModified({ 'content-type': _, ...headers }: NonNullable<APIGatewayProxyResult['headers']>) {
  return { statusCode: 304, headers, body: '' }
}
