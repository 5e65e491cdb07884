import type { APIGatewayProxyResult } from 'aws-lambda'
import { recordIds, type WriteAccess } from '../observability/access.ts'
import type { ApiRequest, Middleware } from './call.ts'
import { ReplayedResponse } from './replayed-response.ts'

/** Writes the request's line of the access trail, when the response is rendered. */
export function accessLine(routeId: string, now: () => number, write: WriteAccess): Middleware {
  const finish = ({ event, context: { call }, response }: ApiRequest): void => {
    const { credential, query, body, responseIds, isUnchanged } = call
    const path = credential ? pathIds(event) : {}
    write({
      timestamp: new Date(now()).toISOString(),
      request_id: call.requestId,
      credential: credential?.key ?? null,
      clinic_id: credential?.clinic.id ?? null,
      route: routeId,
      access: event.httpMethod === 'GET' || isUnchanged ? 'read' : 'write',
      records: [...new Set([...recordIds(path, query, body), ...responseIds])],
      outcome: (response as APIGatewayProxyResult).statusCode,
      source_ip: event.requestContext.identity?.sourceIp ?? null,
    })
  }
  return { after: finish, onError: finish }
}

/** The path as it was sent: a request that is rejected before its parameters are parsed names its record, too. */
const pathIds = ({ pathParameters }: ApiRequest['event']): Record<string, string> =>
  Object.fromEntries(Object.entries(pathParameters ?? {}).map(([name, id = '']) => [name, id.toLowerCase()]))

/** Collects the ids of the records that the endpoint returned. Runs before the response is rendered. */
export function collectResponseIds(): Middleware {
  return {
    after: ({ context: { call }, response }) => {
      const isReplayed = response instanceof ReplayedResponse
      if (isReplayed) call.isUnchanged = true
      const createdId = isReplayed ? response.createdId : call.createdId
      call.responseIds = [
        ...recordIds(isReplayed ? JSON.parse(response.body) : response),
        ...(createdId === undefined ? [] : [createdId]),
      ]
    },
  }
}
