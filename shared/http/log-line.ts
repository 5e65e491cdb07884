import type { APIGatewayProxyResult } from 'aws-lambda'
import { errorEntry } from '../api/error-catalogue.ts'
import { SECURITY_HEADERS } from '../api/security-headers.ts'
import { errorOrigin, type WriteLog } from '../observability/log.ts'
import type { ApiRequest, Middleware } from './call.ts'
import { withTimeout } from './with-timeout.ts'

/** How long background writes may delay the response. */
const MAX_BACKGROUND_WAIT_MS = 300

/** Creates the call and, when the response is ready, writes the request's log line. */
export function logLine(
  routeId: string,
  now: () => number,
  write: WriteLog,
  onInvoked: () => void = () => {},
): Middleware {
  const finish = async ({ context: { call }, response }: ApiRequest): Promise<void> => {
    await withTimeout(MAX_BACKGROUND_WAIT_MS, Promise.allSettled(call.backgroundWrites))
    const { failure, credential, rejectedKey } = call
    write({
      // Without a timestamp, Lambda treats the line as INFO whatever its level.
      timestamp: new Date(now()).toISOString(),
      level: failure && errorEntry(failure.key).status >= 500 ? 'error' : 'info',
      request_id: call.requestId,
      route: routeId,
      status: (response as APIGatewayProxyResult).statusCode,
      duration_ms: now() - call.startedAt,
      ...(credential && { clinic_id: credential.clinic.id, credential: credential.key }),
      ...(rejectedKey !== undefined && { refused_key: rejectedKey }),
      ...(failure && { error: failure.key }),
      ...(failure?.cause !== undefined && { origin: errorOrigin(failure.cause) }),
    })
  }
  return {
    before: ({ event, context }) => {
      onInvoked()
      // The header `x-amzn-requestid` has another id of the request, but a client can send anything in it.
      const requestId = event.requestContext.extendedRequestId as string
      context.call = {
        requestId,
        startedAt: now(),
        path: {},
        query: {},
        body: {},
        bodyText: '',
        checkIfMatch: () => {},
        responseIds: [],
        headers: { 'x-request-id': requestId, ...SECURITY_HEADERS },
        backgroundWrites: [],
      }
    },
    after: finish,
    onError: finish,
  }
}
