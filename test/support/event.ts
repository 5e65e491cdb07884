import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'

export type RequestInput = {
  method?: string
  resource?: string
  path?: Record<string, string>
  query?: Record<string, string | string[]>
  headers?: Record<string, string | string[]>
  body?: string
  /** The path as it was sent, with the stage or the base path of a domain. */
  sentPath?: string
}

const toLists = (values: Record<string, string | string[]>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value].flat()]))

/** A proxy event of a REST API, with the fields that our code reads. */
export function apiEvent({
  method = 'GET',
  resource = '/',
  path,
  query,
  headers = {},
  body,
  sentPath,
}: RequestInput): APIGatewayProxyEvent {
  return {
    resource,
    httpMethod: method,
    pathParameters: path ?? null,
    multiValueQueryStringParameters: query ? toLists(query) : null,
    multiValueHeaders: toLists(headers),
    body: body ?? null,
    requestContext: {
      // A client can set it, to the name of a patient for instance.
      requestId: 'Canary Ana',
      extendedRequestId: 'request-1',
      path: sentPath,
      identity: { sourceIp: '192.0.2.1' },
    },
  } as unknown as APIGatewayProxyEvent
}

export const lambdaContext = (remainingMs = 15_000): Context =>
  ({ getRemainingTimeInMillis: () => remainingMs }) as unknown as Context

type Handler = (event: APIGatewayProxyEvent, context: Context) => unknown

/** The running calls, each with the output since it began; they share the output of the process. */
const activeCaptures = new Set<{ text: string }>()
let restore = () => {}

function startCapture(): { text: string } {
  const capture = { text: '' }
  if (activeCaptures.size === 0) {
    const { write } = process.stdout
    const captured = (text: string | Uint8Array) => {
      for (const one of activeCaptures) one.text += text
      return true
    }
    process.stdout.write = captured
    // A call that an earlier file has left running must not end the capture of a later one.
    restore = () => {
      if (process.stdout.write === captured) process.stdout.write = write
    }
  }
  activeCaptures.add(capture)
  return capture
}

function stopCapture(capture: { text: string }): void {
  activeCaptures.delete(capture)
  if (activeCaptures.size === 0) restore()
}

const isAccessLine = (line: string): boolean => line.startsWith('{"type":"access"')

/**
 * Calls a handler like the gateway does, and returns its response, its log output, and the lines of the access
 * trail, which alone may contain ids of records.
 */
export async function call(handler: unknown, input: RequestInput, context: Context = lambdaContext()) {
  const capture = startCapture()
  try {
    const result = (await (handler as Handler)(apiEvent(input), context)) as APIGatewayProxyResult
    const lines = capture.text.match(/.*\n/g) ?? []
    return {
      status: result.statusCode,
      headers: result.headers ?? {},
      text: result.body,
      body: result.body === '' ? null : JSON.parse(result.body),
      logged: lines.filter((line) => !isAccessLine(line)).join(''),
      accesses: lines.filter(isAccessLine).map((line) => JSON.parse(line)),
    }
  } finally {
    stopCapture(capture)
  }
}
