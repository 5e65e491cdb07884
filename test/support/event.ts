import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'

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

/** Calls under way, each with what was logged since it began: they share the process's output. */
const listening = new Set<{ text: string }>()
const write = process.stdout.write

function listen(): { text: string } {
  const heard = { text: '' }
  if (listening.size === 0) {
    process.stdout.write = (text: string | Uint8Array) => {
      for (const one of listening) one.text += text
      return true
    }
  }
  listening.add(heard)
  return heard
}

function stopListening(heard: { text: string }): void {
  listening.delete(heard)
  if (listening.size === 0) process.stdout.write = write
}

/** Calls a handler as the gateway would, and reads its answer and what was logged meanwhile. */
export async function call(handler: unknown, sent: Sent, context: Context = lambdaContext()) {
  const heard = listen()
  try {
    const result = (await (handler as Handler)(apiEvent(sent), context)) as APIGatewayProxyResult
    return {
      status: result.statusCode,
      headers: result.headers ?? {},
      text: result.body,
      body: result.body === '' ? null : JSON.parse(result.body),
      logged: heard.text,
    }
  } finally {
    stopListening(heard)
  }
}
