import { errorEntry } from '../../shared/api/error-catalogue.ts'
import { errorBody } from '../../shared/api/errors.ts'
import { SECURITY_HEADERS } from '../../shared/api/security-headers.ts'

/**
 * Media types of a body that gets the response. Parameters such as a charset do not matter, and a request without a type counts
 * as JSON. A body of another type gets a 415: API Gateway has no template for all types.
 */
const MEDIA_TYPES = [
  'application/json',
  'application/merge-patch+json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'application/xml',
  'multipart/form-data',
  'text/plain',
  'text/xml',
]

/**
 * What API Gateway returns by itself to the other methods of a resource: 405 with the methods that it has, or 404 if it has none. No
 * function runs, so no number of such requests takes concurrency from others. Nothing of the request is in the response.
 */
export function unmatchedIntegration(allowed: readonly string[]): object {
  const key = allowed.length > 0 ? 'method_not_allowed' : 'route_not_found'
  const { status } = errorEntry(key)
  const headers: Record<string, string> = {
    'x-request-id': 'context.extendedRequestId',
    'cache-control': "'no-store'",
    ...Object.fromEntries(Object.entries(SECURITY_HEADERS).map(([name, value]) => [name, `'${value}'`])),
    ...(allowed.length > 0 && { allow: `'${allowed.join(', ')}'` }),
  }
  const names = Object.keys(headers)
  const template = JSON.stringify({ statusCode: status })
  return {
    responses: {
      [status]: {
        description: key,
        headers: Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }])),
      },
    },
    'x-amazon-apigateway-integration': {
      type: 'mock',
      passthroughBehavior: 'never',
      requestTemplates: Object.fromEntries(MEDIA_TYPES.map((type) => [type, template])),
      responses: {
        default: {
          statusCode: String(status),
          responseParameters: Object.fromEntries(
            names.map((name) => [`method.response.header.${name}`, headers[name]]),
          ),
          responseTemplates: { 'application/json': JSON.stringify(errorBody(key)) },
        },
      },
    },
  }
}
