import middy from '@middy/core'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { ApiError } from '../api/errors.ts'
import { BASE_PATH } from '../api/route.ts'
import type { ApiContext, Middleware } from '../http/call.ts'
import { matchesEtag } from '../http/headers.ts'
import { pathPrefix } from '../http/path-prefix.ts'
import { recordRequest } from '../http/record-request.ts'
import { errorResponse } from '../http/reply.ts'
import type { WriteLog } from '../observability/log.ts'
import type { ServedFiles } from './files.ts'

/**
 * The pages may load scripts and styles from, and send requests to, their own origin only. No inline scripts, no eval, no
 * framing.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of the page, in addition to the headers of every response. */
const PAGE_SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
}

type ServeOptions = { readonly now: () => number; readonly log: WriteLog }

/** A Lambda handler that serves files to GET and HEAD, the only methods that it gets, without a credential. Below /docs, an error is a page; elsewhere it has the API's error shape. */
export function serveFiles(files: ServedFiles, { now, log }: ServeOptions) {
  const withErrors: Middleware = {
    onError: (request) => {
      const response = errorResponse(request.context.call, request.error)
      const page = response.statusCode === 404 ? notFoundPage(request.event, files) : undefined
      request.response = page
        ? { ...response, headers: { ...response.headers, 'content-type': page.type }, body: page.body }
        : response
    },
  }
  return middy<APIGatewayProxyEvent, unknown, Error, ApiContext>()
    .use([recordRequest({ id: 'reference' }, { now, log, writeAccess: () => {} }), withErrors])
    .handler(async (event, { call }): Promise<APIGatewayProxyResult> => {
      Object.assign(call.headers, PAGE_SECURITY_HEADERS)
      return respond(event, call.headers, files)
    })
}

/** The page for an address below /docs without a file. Its links lead up from there. */
function notFoundPage({ resource, pathParameters }: APIGatewayProxyEvent, files: ServedFiles) {
  const file = resource === '/docs/{proxy+}' ? files.get('/docs/404')?.() : undefined
  const up = '../'.repeat(pathParameters?.proxy?.split('/').length ?? 1)
  return file && { ...file, body: file.body.replaceAll('"../', `"${up}`) }
}

function respond(
  event: APIGatewayProxyEvent,
  headers: Record<string, string>,
  files: ServedFiles,
): APIGatewayProxyResult {
  const { resource, path, pathParameters, requestContext } = event
  // The resource, not the path: a custom domain may serve the API under a path prefix.
  const name = resource === '/docs/{proxy+}' ? `/docs/${pathParameters?.proxy ?? ''}` : resource
  const file = files.get(resource === '/' ? '/docs' : name)?.()
  if (!file) throw new ApiError('route_not_found')
  if (resource === '/')
    return { statusCode: 302, headers: { ...headers, location: docsPath(event) }, body: '' }
  // The relative links of a page would resolve differently from a path with a trailing slash.
  if (path?.endsWith('/')) return { statusCode: 308, headers: { ...headers, location: '../docs' }, body: '' }
  const { body, type, etag, cacheControl } = file
  const validators = { ...headers, etag, 'cache-control': cacheControl, vary: 'accept-encoding' }
  if (matchesEtag(event, etag)) return { statusCode: 304, headers: validators, body: '' }
  return {
    statusCode: 200,
    headers: { ...validators, 'content-type': type },
    body: resource === API_DOCUMENT ? withServer(body, pathPrefix(requestContext.path, resource)) : body,
  }
}

/** The path of /docs for a request to the root, which has a stage's name with or without a slash after it. */
function docsPath({ requestContext }: APIGatewayProxyEvent): string {
  const sent = `${requestContext.path?.replace(/\/$/, '') ?? ''}/docs`
  return `${pathPrefix(sent, '/docs')}/docs`
}

const API_DOCUMENT = '/openapi.json'

/** The document with the server at the address that it was requested from. */
const withServer = (document: string, prefix: string): string =>
  document.replace(`"servers":[{"url":"${BASE_PATH}"`, () => `"servers":[{"url":"${prefix}${BASE_PATH}"`)
