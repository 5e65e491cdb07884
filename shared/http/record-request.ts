import type { APIGatewayProxyResult } from 'aws-lambda'
import { errorEntry } from '../api/error-catalogue.ts'
import type { Route } from '../api/route.ts'
import { recordIds, type WriteAccess } from '../observability/access.ts'
import { errorOrigin, type WriteLog } from '../observability/log.ts'
import { type ApiRequest, beginCall, type Middleware } from './call.ts'
import { withTimeout } from './with-timeout.ts'

/** How long background writes may delay the response. */
const MAX_BACKGROUND_WAIT_MS = 300

type RecordOptions = {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly log: WriteLog
  readonly writeAccess: WriteAccess
  readonly onInvoked?: () => void
}

/** Begins the call of a request and, when its response is ready, writes its line of the access trail and its log line. */
export function recordRequest(
  { id }: Pick<Route, 'id'>,
  { now, log, writeAccess, onInvoked }: RecordOptions,
): Middleware {
  const finish = async ({ event, context: { call }, response }: ApiRequest): Promise<void> => {
    const { requestId, credential, failure, rejectedKey } = call
    const { statusCode: status } = response as APIGatewayProxyResult
    const timestamp = new Date(now()).toISOString()
    writeAccess({
      timestamp,
      request_id: requestId,
      credential: credential?.key ?? null,
      clinic_id: credential?.clinic.id ?? null,
      route: id,
      access: event.httpMethod === 'GET' || (call.isUnchanged && !failure) ? 'read' : 'write',
      records: [...new Set([...recordIds(pathIds(event, call), call.query, call.body), ...call.responseIds])],
      outcome: status,
      source_ip: event.requestContext.identity?.sourceIp ?? null,
    })
    await withTimeout(MAX_BACKGROUND_WAIT_MS, Promise.allSettled(call.backgroundWrites))
    log({
      // Without a timestamp, Lambda treats the line as INFO whatever its level.
      timestamp,
      level: failure && errorEntry(failure.key).status >= 500 ? 'error' : 'info',
      request_id: requestId,
      route: id,
      status,
      duration_ms: now() - call.startedAt,
      ...(credential && { clinic_id: credential.clinic.id, credential: credential.key }),
      ...(rejectedKey !== undefined && { refused_key: rejectedKey }),
      ...(failure && { error: failure.key }),
      ...(failure?.cause !== undefined && { origin: errorOrigin(failure.cause) }),
    })
  }
  return {
    before: ({ event, context }) => {
      onInvoked?.()
      context.call = beginCall(event, now())
    },
    after: finish,
    onError: finish,
  }
}

/** The path as it was sent: a request that is rejected before its parameters are parsed names its record, too. */
function pathIds({ pathParameters }: ApiRequest['event'], { credential }: ApiRequest['context']['call']) {
  const ids: Record<string, string> = {}
  for (const [name, value = ''] of Object.entries((credential && pathParameters) ?? {}))
    ids[name] = value.toLowerCase()
  return ids
}
