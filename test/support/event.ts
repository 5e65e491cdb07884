import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import { vi } from 'vitest'

export type Sent = {
  method?: string
  resource?: string
  path?: Record<string, string>
  query?: Record<string, string | string[]>
  headers?: Record<string, string | string[]>
  body?: string
}

const lists = (values: Record<string, string | string[]>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value].flat()]))

/** A REST API's proxy event, as far as our code reads it. */
export function apiEvent({
  method = 'GET',
  resource = '/',
  path,
  query,
  headers = {},
  body,
}: Sent): APIGatewayProxyEvent {
  return {
    resource,
    httpMethod: method,
    pathParameters: path ?? null,
    multiValueQueryStringParameters: query ? lists(query) : null,
    multiValueHeaders: lists(headers),
    body: body ?? null,
    requestContext: { requestId: 'request-1' },
  } as unknown as APIGatewayProxyEvent
}

export const lambdaContext = (remainingMs = 15_000): Context =>
  ({ getRemainingTimeInMillis: () => remainingMs }) as unknown as Context

type Handler = (event: APIGatewayProxyEvent, context: Context) => unknown

/** Calls a handler as the gateway would, and reads its answer and what it logged meanwhile. */
export async function call(handler: unknown, sent: Sent, context: Context = lambdaContext()) {
  let logged = ''
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    logged += text
    return true
  })
  try {
    const result = (await (handler as Handler)(apiEvent(sent), context)) as APIGatewayProxyResult
    return {
      status: result.statusCode,
      headers: result.headers ?? {},
      text: result.body,
      body: JSON.parse(result.body),
      logged,
    }
  } finally {
    stdout.mockRestore()
  }
}
